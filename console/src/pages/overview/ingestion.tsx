import { Columns } from '../../charts/columns.tsx'
import { columnsOf } from '../../charts/over-time.ts'
import { useTicks } from '../../clock.ts'
import { Card } from '../../ui/basics.tsx'
import { counted, type Overview } from './count.ts'

const HOURS = 24
const HOUR = 3_600_000

/** Events of wearable data by the hour, on real time: data comes in whatever the team's clock says. */
export function Ingestion({ of: { hours, ...count } }: { of: Overview['ingestion'] }) {
  useTicks()
  const found = hours.map(({ hour, events }) => ({ at: hour, amount: events }))
  const values = columnsOf(found, HOUR, HOURS, Date.now())
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
