import { expect, it } from 'vitest'
import { EscapementError, mistakesError } from '../../../../src/errors.js'
import { mistakesIn } from './refusal.ts'

it('tells what was refused at the field that it is about', () => {
  const mistakes = [{ field: 'input.customer', message: 'is missing' }]
  expect(mistakesIn(mistakesError('input_invalid', mistakes))).toEqual(mistakes)
  expect(mistakesIn(mistakesError('request_invalid', [{ field: 'fields.grace', message: 'x' }]))).toEqual([
    { field: 'grace', message: 'x' },
  ])
  const taken = new EscapementError('schedule_exists', { message: 'name: there is a schedule "a" already' })
  expect(mistakesIn(taken)).toEqual([{ field: 'name', message: 'there is a schedule "a" already' }])
  expect(mistakesIn(new EscapementError('unknown_job', { message: 'There is no job' }))).toMatchObject([
    { field: 'job' },
  ])
  expect(mistakesIn(new EscapementError('forbidden', { message: 'no' }))).toEqual([])
  expect(mistakesIn(new Error('no'))).toEqual([])
})
