import type { EscapementConfig } from '../config.js'
import { EscapementError } from '../errors.js'
import { HTTP_JOB, httpJob } from '../http-job/http-job.js'
import type { HttpJobOptions } from '../http-job/options.js'
import type { AnyJob } from '../runs/job.js'

/** The jobs of a configuration, and `http`, unless the configuration has its own or wants none. */
export function allJobs({ jobs = [], http = {} }: EscapementConfig): AnyJob[] {
  if (http === false || jobs.some(({ name }) => name === HTTP_JOB)) return [...jobs]
  return [...jobs, httpJob(withEnvironment(http, process.env))]
}

/** For servers that have no code of their own. What the configuration says is added to, never replaced. */
function withEnvironment(options: HttpJobOptions, env: NodeJS.ProcessEnv): HttpJobOptions {
  const allow = listIn(env.ESCAPEMENT_HTTP_ALLOW)
  const only = listIn(env.ESCAPEMENT_HTTP_ONLY)
  const secret = env.ESCAPEMENT_HTTP_SECRET || undefined
  refuseMistakes('ESCAPEMENT_HTTP_ALLOW', { allow })
  if (only.length > 0) refuseMistakes('ESCAPEMENT_HTTP_ONLY', { only })
  if (secret !== undefined) refuseMistakes('ESCAPEMENT_HTTP_SECRET', { secrets: { default: secret } })
  return {
    ...options,
    ...(allow.length > 0 && { allow: joined(options.allow, allow) }),
    ...(only.length > 0 && { only: joined(options.only, only) }),
    ...(secret !== undefined && { secrets: withDefault(options.secrets, secret) }),
  }
}

/** What is no list stays as it is, so that it is refused. */
function joined(given: readonly string[] = [], more: readonly string[]): readonly string[] {
  return Array.isArray(given) ? [...given, ...more] : given
}

function withDefault(given: Readonly<Record<string, string>> = {}, secret: string): Record<string, string> {
  return typeof given === 'object' && !Array.isArray(given) ? { default: secret, ...given } : given
}

function listIn(text = ''): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Each on its own: whoever set a variable must read its name. */
function refuseMistakes(name: string, options: HttpJobOptions): void {
  try {
    httpJob(options)
  } catch (error) {
    const message = `${name}: ${(error as Error).message}`
    throw new EscapementError('option_invalid', { message, cause: error })
  }
}
