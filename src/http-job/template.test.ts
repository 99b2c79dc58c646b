import { describe, expect, it } from 'vitest'
import { expandJson, expandText, type TemplateFields, templateMistakes } from './template.js'

const FIELDS: TemplateFields = {
  run: { id: 'r-1' },
  job: 'http',
  schedule: 'report:acme',
  scope: 'a/b',
  planTime: '2026-03-01T00:00:00.000Z',
  previousPlanTime: null,
  trigger: 'scheduled',
  attempt: 2,
  event: { name: 'run.failed', run: { tries: [3] }, said: '{{run.id}}' },
}

describe('templates', () => {
  it('take the fields of the run', () => {
    const text = '{{run.id}} {{ job }} {{schedule}} {{scope}} {{planTime}} {{trigger}} {{attempt}}'
    expect(templateMistakes(text)).toEqual([])
    expect(expandText(text, FIELDS)).toBe('r-1 http report:acme a/b 2026-03-01T00:00:00.000Z scheduled 2')
  })

  it('leave nothing where there is nothing', () => {
    expect(expandText('[{{previousPlanTime}}{{event.no.such}}]', FIELDS)).toBe('[]')
    expect(expandText('[{{event.run}}]', { ...FIELDS, event: undefined })).toBe('[]')
  })

  it('reach into the event, and only into what is its own', () => {
    expect(expandText('{{event.name}}: {{event.run.tries.0}} {{event.run}}', FIELDS)).toBe(
      'run.failed: 3 {"tries":[3]}',
    )
    expect(expandJson(['{{event.constructor.name}}', '{{event.__proto__}}'], FIELDS)).toEqual([null, null])
  })

  it('are read once: a value that holds one is no template', () => {
    expect(expandText('{{event.said}}', FIELDS)).toBe('{{run.id}}')
    expect(expandJson(['{{event.said}}', '{{event}}'], FIELDS)).toEqual(['{{run.id}}', FIELDS.event])
  })

  it('keep the type of what they stand for where they stand alone', () => {
    const body = {
      n: '{{attempt}}',
      none: '{{previousPlanTime}}',
      all: ['{{event.run}}', 'try {{attempt}}', 7, true, null],
      '{{attempt}}': 'a key is left as it is',
    }
    expect(expandJson(body, FIELDS)).toEqual({
      n: 2,
      none: null,
      all: [{ tries: [3] }, 'try 2', 7, true, null],
      '{{attempt}}': 'a key is left as it is',
    })
  })

  it('leave braces that are meant', () => {
    const text = '{"a":{"b":{{attempt}}}} \\{{name}} {{{attempt}}}'
    expect(templateMistakes(text)).toEqual([])
    expect(expandText(text, FIELDS)).toBe('{"a":{"b":2}} {{name}} {2}')
    expect(expandJson('\\{{name}}', FIELDS)).toBe('{{name}}')
  })

  it.each([
    ['{{planTme}}', 'did you mean "planTime"?'],
    ['{{runId}}', 'did you mean "run.id"?'],
    ['{{run}}', 'there is no "run"'],
    ['{{event.}}', 'there is no "event."'],
    ['{{}}', 'there is no ""'],
    ['{{ secret }}', 'there is no "secret"'],
    ['{{planTime', 'has a "{{" without its "}}"'],
    ['{{a{{attempt}}', 'has a "{{" without its "}}"'],
  ])('refuse %s: %s', (text, message) => {
    expect(templateMistakes(text)).toEqual([expect.stringContaining(message)])
  })
})
