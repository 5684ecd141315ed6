import { useCallback, useEffect, useState } from 'preact/hooks'
import { Columns } from '../../charts/columns.tsx'
import { teamNow, useTicks } from '../../clock.ts'
import { useEvents } from '../../live.ts'
import { Card } from '../../ui/basics.tsx'
import { plural } from '../../words.ts'
import type { Overview } from './overview.tsx'

const MINUTES = 30
const MINUTE = 60_000

/** Events a minute, as they come: those that the overview knew, and every one since. */
export function Pulse({ activity }: { activity: Overview['activity'] }) {
  const [times, setTimes] = useState<Record<string, number>>({})
  const add = useCallback((found: { event_id: string; created_at: string }[]) => {
    const since = teamNow() - MINUTES * MINUTE
    setTimes((now) => {
      const all = { ...now, ...Object.fromEntries(found.map(({ event_id, created_at }) => [event_id, Date.parse(created_at)])) }
      return Object.fromEntries(Object.entries(all).filter(([, at]) => at > since))
    })
  }, [])
  useEffect(() => add(activity), [activity, add])
  useEvents(useCallback((told) => add([told]), [add]))
  useTicks()
  const now = teamNow()
  const values = Array.from({ length: MINUTES }, () => 0)
  for (const at of Object.values(times)) {
    const place = MINUTES - 1 - Math.floor((now - at) / MINUTE)
    if (place >= 0 && place < MINUTES) values[place] = (values[place] ?? 0) + 1
  }
  const sum = values.reduce((a, b) => a + b, 0)
  return (
    <Card title="Events, last 30 minutes">
      <Columns values={values} label={`${plural(sum, 'event')} in the last 30 minutes, by minute`} />
      <div class="row between small faint">
        <span>30 min ago</span>
        <span>{plural(sum, 'event')}</span>
        <span>now</span>
      </div>
    </Card>
  )
}
