import type { ReactNode } from 'react'
import { inputStyle } from '../../parts/field.tsx'
import { Labelled } from '../../parts/labelled.tsx'

export interface TextFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  help?: ReactNode
  mistake?: string | undefined
  placeholder?: string
  /** The id of a list of suggestions. */
  list?: string
  isCode?: boolean
  /** So many lines instead of one. */
  rows?: number
  className?: string
}

/** One line of text, or several. */
export function TextField({
  label,
  value,
  onChange,
  help,
  mistake,
  placeholder,
  list,
  isCode = false,
  rows,
  className = '',
}: TextFieldProps) {
  const font = isCode ? 'font-mono text-[0.8125rem]' : ''
  const shared = {
    value,
    placeholder,
    spellCheck: !isCode,
    autoComplete: 'off',
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  return (
    <Labelled label={label} help={help} mistake={mistake} className={className}>
      {(ids) =>
        rows === undefined ? (
          <input
            {...ids}
            {...shared}
            list={list}
            className={`${inputStyle} ${font} ${wrongStyle(mistake)}`}
          />
        ) : (
          <textarea
            {...ids}
            {...shared}
            rows={rows}
            className={`${inputStyle} ${font} h-auto! py-1.5 leading-5 ${wrongStyle(mistake)}`}
          />
        )
      }
    </Labelled>
  )
}

const wrongStyle = (mistake: string | undefined) => (mistake === undefined ? '' : 'border-bad!')
