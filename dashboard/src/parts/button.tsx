import type { ButtonHTMLAttributes } from 'react'

const KINDS = {
  main: 'border-transparent bg-accent text-accent-ink hover:opacity-90',
  plain: 'border-line bg-surface text-ink hover:bg-raised',
  danger: 'border-transparent bg-bad text-accent-ink hover:opacity-90',
} as const

export type ButtonKind = keyof typeof KINDS

export const buttonStyle = (kind: ButtonKind = 'plain') =>
  `inline-flex h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-3 font-medium disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:pointer-events-none aria-disabled:opacity-55 ${KINDS[kind]}`

export function Button({
  kind = 'plain',
  type = 'button',
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { kind?: ButtonKind }) {
  return <button type={type} className={`${buttonStyle(kind)} ${className}`} {...rest} />
}
