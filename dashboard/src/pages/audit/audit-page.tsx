import { useMay } from '../../api/may.ts'
import { Page } from '../../parts/page.tsx'
import { Audit } from './audit.tsx'
import { Doctor } from './doctor.tsx'

/** Whether the ledger is right; and for those who can mend it, what else is wrong. */
export function AuditPage() {
  const mayMend = useMay('admin')
  return (
    <Page title="Audit">
      <Audit />
      {mayMend && <Doctor />}
    </Page>
  )
}
