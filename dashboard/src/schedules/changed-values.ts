export interface ChangedValue {
  /** `input.customer`; policies by their own names. */
  field: string
  /** Undefined where there was none. */
  before: unknown
  after: unknown
}

/** What differs between two contents of a schedule, as deep down as objects go. */
export function changedValues(before: unknown, after: unknown): ChangedValue[] {
  if (!isObject(before) || !isObject(after)) return []
  return differences(flat(before), flat(after), '')
}

function differences(before: Fields, after: Fields, path: string): ChangedValue[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [old, now, field] = [before[name], after[name], `${path}${name}`]
    if (isObject(old) && isObject(now)) return differences(old, now, `${field}.`)
    return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ field, before: old, after: now }]
  })
}

type Fields = Readonly<Record<string, unknown>>

function flat({ policies, ...fields }: Fields): Fields {
  return { ...fields, ...(isObject(policies) && policies) }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
