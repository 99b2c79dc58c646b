import { Link } from 'wouter'
import { useMay } from '../../api/may.ts'
import { Button, buttonStyle } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'

const PUT = `escapement schedules put hello --job http --input '{"url":"https://example.com"}' --every "15 minutes"`

export function NoSchedules({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const mayPut = useMay('admin')
  if (isFiltered) {
    return (
      <Empty title="No schedule is like that.">
        <p className="mb-3">Words are matched from their beginning; group and job must be exact.</p>
        <Button onClick={onClear}>Clear the filter</Button>
      </Empty>
    )
  }
  if (!mayPut) return <Empty title="No schedules yet.">Whoever has the role “admin” can make one.</Empty>
  return (
    <Empty title="No schedules yet." command={PUT}>
      <p className="mb-3">
        <Link href="/new-schedule" className={buttonStyle('main')}>
          New schedule
        </Link>
      </p>
      Or put one from your code, from escapement.config.ts, or from a terminal:
    </Empty>
  )
}
