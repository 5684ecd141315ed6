import { Columns } from '../../charts/columns.tsx'
import { useTicks } from '../../clock.ts'
import { Card } from '../../ui/basics.tsx'
import { counted, type Overview } from './overview.tsx'

const HOURS = 24
const HOUR = 3_600_000

/** Events of wearable data by the hour, on real time: data comes in whatever the team's clock says. */
export function Ingestion({ of: { hours, ...count } }: { of: Overview['ingestion'] }) {
  useTicks()
  const first = Math.floor(Date.now() / HOUR) - (HOURS - 1)
  const values = Array.from({ length: HOURS }, () => 0)
  for (const { hour, events } of hours) {
    const place = Math.floor(Date.parse(hour) / HOUR) - first
    if (place in values) values[place] = events
  }
  const said = `${counted(count)} ${count.count === 1 ? 'event' : 'events'}`
  return (
    <Card title="Ingestion, last 24 hours">
      <Columns values={values} label={`${said} of wearable data in the last 24 hours, by hour`} />
      <div class="row between small faint">
        <span>24 h ago</span>
        <span>{said} of wearable data</span>
        <span>now</span>
      </div>
    </Card>
  )
}
