import { useQuery } from '@tanstack/react-query'
import { basePath } from '../api/client.ts'
import { sessionQuery } from '../api/queries.ts'
import { quoted } from './quoted.ts'

type Curl = (method: string, path: string, body?: unknown) => string

/** Writes a request for a terminal, to a path under `/api/v1`; with a token where one is needed. */
export function useCurl(): Curl {
  const isLocal = useQuery(sessionQuery).data?.via === 'local'
  const token = isLocal ? '' : ' -H "Authorization: Bearer $ESCAPEMENT_TOKEN"'
  return (method, path, body) => {
    const sent = body === undefined ? '' : ` --json ${quoted(JSON.stringify(body))}`
    const verb = method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`
    return `curl${verb}${token}${sent} ${quoted(`${location.origin}${basePath}/api/v1${path}`)}`
  }
}
