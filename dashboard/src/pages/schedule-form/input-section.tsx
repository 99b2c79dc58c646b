import { useQuery } from '@tanstack/react-query'
import type { Mistake } from '../../../../src/errors.js'
import { useSeesAll } from '../../api/may.ts'
import { jobsQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import type { FormProps } from './form-props.ts'
import { inputMistakes } from './input-check.ts'
import { type Reading, rootOf } from './reading.ts'
import { TextField } from './text-field.tsx'

export interface InputSectionProps extends FormProps {
  reading: Reading
  /** What the server has said of it. */
  told: readonly Mistake[]
}

/** What the job gets, checked as it is typed: as JSON, and against what the job has published of its input. */
export function InputSection({ form, change, mistakeAt, reading, told }: InputSectionProps) {
  const seesAll = useSeesAll()
  const { data } = useQuery({ ...jobsQuery, enabled: seesAll })
  const schema = data?.jobs.find(({ name }) => name === form.job.trim())?.inputSchema ?? null
  const isJson = !reading.mistakes.some(({ field }) => rootOf(field) === 'input')
  const found = isJson ? inputMistakes(schema, reading.definition.input ?? null) : []
  const isEmpty = form.input.trim() === ''
  const inside = told.filter(({ field }) => rootOf(field) === 'input' && field !== 'input')
  const lines = [...inside, ...(isEmpty ? [] : found)].map(({ field, message }) =>
    `${field.slice('input.'.length)} ${message}`.trim(),
  )
  const mistake = [mistakeAt('input'), ...new Set(lines)].filter((line) => line !== undefined).join('; ')
  return (
    <Card title="Input">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 p-4">
        <TextField
          label="Input as JSON"
          value={form.input}
          onChange={(input) => change({ input })}
          mistake={mistake || undefined}
          isCode
          rows={Math.min(16, Math.max(4, form.input.split('\n').length + 1))}
          placeholder="null"
          help={form.input.includes('"[redacted]"') ? HIDDEN : helpOf(schema, found.length, isEmpty)}
        />
        {schema !== null && (
          <details>
            <summary className="w-fit cursor-pointer text-accent text-xs">What the job takes</summary>
            <div className="mt-1.5">
              <JsonText label="The JSON Schema of the input" value={schema} />
            </div>
          </details>
        )}
      </div>
    </Card>
  )
}

/** It is not sent while it is as it was read; and the server refuses it in place of what is kept. */
const HIDDEN = 'The server hides what is “[redacted]”. To change the input, type those values anew.'

function helpOf(schema: unknown, mistakes: number, isEmpty: boolean) {
  if (schema === null) return 'What the handler gets. Empty: null.'
  if (isEmpty && mistakes > 0) return 'The job asks for an input: see below what it takes.'
  return mistakes === 0 ? 'It fits what the job takes.' : 'The server has the last word.'
}
