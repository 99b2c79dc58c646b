import { defaultWindow, POLICY_DEFAULTS, type Policies } from './policies.js'

/** In plain English, one sentence for each policy that is not the default. */
export function describePolicies(policies: Policies, kind: string): string[] {
  const { grace, delay, jitter, breaker } = policies
  const words: string[] = [...describeCatchUp(policies, kind), ...describeOverlap(policies, kind)]
  if (grace !== POLICY_DEFAULTS.grace) words.push(`On time is what is less than ${grace} late`)
  if (delay !== POLICY_DEFAULTS.delay) words.push(`Runs ${delay} after the plan time`)
  if (jitter !== POLICY_DEFAULTS.jitter) words.push(`Runs are spread over ${jitter}`)
  if (breaker !== null) {
    const times = breaker.failures === 1 ? 'a failure' : `${breaker.failures} failures in a row`
    const again = breaker.cooldown === null ? '' : `, and tried again after ${breaker.cooldown}`
    words.push(`Taken out after ${times}${again}`)
  }
  if (policies.deleteWhenDone) words.push('Deleted when no plan time is left')
  return words
}

/** The rest: what the policies that were left as they are by default come to. */
export function describeDefaults(policies: Policies, kind: string): string[] {
  const { catchUp, overlap, grace, breaker } = policies
  const words: string[] = []
  if (catchUp === 'latest' && describeCatchUp(policies, kind).length === 0) {
    words.push('Of plan times that were missed the newest runs')
  }
  if (kind !== 'after' && overlap === 'allow') words.push('Runs while an earlier run is open, too')
  if (grace === POLICY_DEFAULTS.grace) words.push(`On time is what is less than ${grace} late`)
  if (breaker === null) words.push('Goes on whatever fails')
  return words
}

function describeCatchUp({ catchUp, catchUpWindow, catchUpLimit }: Policies, kind: string): string[] {
  const isDefault = catchUpWindow === defaultWindow(catchUp, kind)
  const within = catchUpWindow === null ? '' : `, if it is less than ${catchUpWindow} late`
  switch (catchUp) {
    case 'latest':
      return isDefault ? [] : [`Of plan times that were missed the newest runs${within}`]
    case 'none':
      return ['Of plan times that were missed none runs']
    case 'all':
      return [`Each plan time that was missed runs${within}, at most ${catchUpLimit} per tick`]
  }
}

function describeOverlap({ overlap }: Policies, kind: string): string[] {
  // One that counts from the end of the last run cannot overlap it.
  if (kind === 'after') return []
  switch (overlap) {
    case 'allow':
      return []
    case 'skip':
      return ['Skipped while an earlier run is open']
    case 'queue':
      return ['One waits while an earlier run is open']
    case 'replace':
      return ['Cancels an earlier run that is still open']
  }
}
