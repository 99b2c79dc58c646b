import { useSearchParams } from 'wouter'

/** Each field, and what of it is taken from an address: anybody can write one. */
export type FilterFields<Field extends string> = Readonly<Record<Field, (value: string) => boolean>>

export interface AddressFilter<Field extends string> {
  values: Partial<Record<Field, string>>
  isFiltered: boolean
  pageToken: string | undefined
  /** An empty text takes a field away. Begins with the first page again. */
  change(change: Partial<Record<Field, string>>): void
}

/** What is searched for, as it is in the address: it can be sent to somebody, and the way back leads back. */
export function useAddressFilter<Field extends string>(fields: FilterFields<Field>): AddressFilter<Field> {
  const [params, setParams] = useSearchParams()
  const values: Partial<Record<Field, string>> = {}
  for (const field of Object.keys(fields) as Field[]) {
    const value = params.get(field)
    if (value && fields[field](value)) values[field] = value
  }
  return {
    values,
    isFiltered: Object.keys(values).length > 0,
    pageToken: params.get('pageToken') ?? undefined,
    change(change) {
      setParams(
        (old) => {
          const next = new URLSearchParams(old)
          next.delete('pageToken')
          for (const [field, value] of Object.entries<string | undefined>(change)) {
            if (value) next.set(field, value)
            else next.delete(field)
          }
          return next
        },
        { replace: true },
      )
    },
  }
}
