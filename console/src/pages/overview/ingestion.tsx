import { ColumnChart } from '../../charts/column-chart.tsx'
import { groupByColumn } from '../../charts/group-by-column.ts'
import { useTicks } from '../../clock.ts'
import { Card } from '../../ui/basics.tsx'
import { formatCountOf, type Overview } from './count.ts'

const HOURS = 24
const HOUR_MS = 3_600_000

/** Uses real time, because wearable data arrives independently of the sandbox clock. */
export function Ingestion({ ingestion: { hours, ...count } }: { ingestion: Overview['ingestion'] }) {
  useTicks()
  const amounts = hours.map(({ hour, events }) => ({ at: hour, amount: events }))
  const values = groupByColumn(amounts, HOUR_MS, HOURS, Date.now())
  const eventCount = `${formatCountOf(count)} ${count.count === 1 ? 'event' : 'events'}`
  return (
    <Card title="Wearable data, last 24 hours">
      <ColumnChart values={values} label={`${eventCount} in the last 24 hours, by hour`} />
      <div class="row between small faint">
        <span>24 hours ago</span>
        <span>{eventCount}</span>
        <span>Now</span>
      </div>
    </Card>
  )
}
