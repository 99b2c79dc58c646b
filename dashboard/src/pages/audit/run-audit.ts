import { auditWhole, type WholeAudit } from '../../../../src/http-client/whole-audit.js'
import { client } from '../../api/client.ts'

export { MISTAKES } from '../../../../src/http-client/whole-audit.js'
export type WholeReport = WholeAudit

export interface AuditProgress {
  done: number
  total: number
}

export function runAudit(
  onProgress: (progress: AuditProgress) => void,
  signal: AbortSignal,
): Promise<WholeReport> {
  return auditWhole(client, {}, (done, total) => onProgress({ done, total }), { signal })
}
