import { useCallback, useState } from 'preact/hooks'
import { ColumnChart } from '../../charts/column-chart.tsx'
import { groupByColumn } from '../../charts/group-by-column.ts'
import { useTicks } from '../../clock.ts'
import { useEvents } from '../../event-stream.ts'
import { Card } from '../../ui/basics.tsx'
import { formatCountOf, type Overview } from './count.ts'

const MINUTES = 30
const MINUTE_MS = 60_000

/** Events per minute in real time: the server's counts plus events received since. */
export function Pulse({ pulse }: { pulse: Overview['pulse'] }) {
  useTicks()
  const received = useEventTimesSince(pulse)
  const amounts = pulse.minutes.map(({ minute, events }) => ({ at: minute, amount: events }))
  // A browser clock that is a few seconds behind must not drop the current minute.
  const now = Math.max(Date.now(), Date.parse(amounts.at(-1)?.at ?? '') || 0)
  const values = groupByColumn([...amounts, ...received.map((at) => ({ at, amount: 1 }))], MINUTE_MS, MINUTES, now)
  const sum = values.reduce((a, b) => a + b, 0)
  const eventCount = `${formatCountOf({ count: sum, at_least: pulse.at_least })} ${sum === 1 ? 'event' : 'events'}`
  return (
    <Card title="Events, last 30 minutes">
      <ColumnChart values={values} label={`${eventCount} in the last 30 minutes, by minute`} />
      <div class="row between small faint">
        <span>30 minutes ago</span>
        <span>{eventCount}</span>
        <span>Now</span>
      </div>
    </Card>
  )
}

/** Times of events received after a response. The next response includes them. */
function useEventTimesSince(response: object) {
  const [received, setReceived] = useState<{ since: object; at: string[] }>({ since: response, at: [] })
  const onEvent = useCallback(() => {
    const at = new Date().toISOString()
    setReceived((now) => ({ since: response, at: now.since === response ? [...now.at, at] : [at] }))
  }, [response])
  useEvents(onEvent)
  return received.since === response ? received.at : []
}
