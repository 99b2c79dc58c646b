import { createHttpClient, type Result } from '../../../src/http-client/index.js'

export { EscapementError } from '../../../src/http-client/index.js'

export type Schedule = Result<'getSchedule'>
export type FoundSchedule = Result<'listSchedules'>['schedules'][number]
export type RunDetails = Result<'getRun'>
export type Run = RunDetails['run']
export type Session = Result<'getSession'>
export type Stats = Result<'getStats'>
export type Queue = Result<'listQueues'>['queues'][number]
export type Worker = Result<'listWorkers'>['workers'][number]
export type Job = Result<'listJobs'>['jobs'][number]
export type Transition = Result<'listTransitions'>['transitions'][number]
export type SweepReport = Result<'sweepTransitions'>
export type Diagnosis = Result<'getDiagnosis'>

/** Where the server has mounted us, without a slash at the end: the page's `<base>` says it. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/+$/, '')

const SAFE_METHODS = ['GET', 'HEAD']
let csrfToken: string | null = null

/** What requests that change something carry from now on. */
export function keepCsrfToken(token: string | null): void {
  csrfToken = token
}

/** The server that this page comes from, as whoever is logged in. */
export const client = createHttpClient({
  url: `${location.origin}${basePath}`,
  fetch(request) {
    if (csrfToken !== null && !SAFE_METHODS.includes(request.method)) {
      request.headers.set('x-csrf-token', csrfToken)
    }
    return fetch(request)
  },
})
