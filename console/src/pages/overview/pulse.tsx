import { useCallback, useState } from 'preact/hooks'
import { Columns } from '../../charts/columns.tsx'
import { columnsOf } from '../../charts/over-time.ts'
import { useTicks } from '../../clock.ts'
import { useEvents } from '../../live.ts'
import { Card } from '../../ui/basics.tsx'
import { counted, type Overview } from './count.ts'

const MINUTES = 30
const MINUTE = 60_000

/** Events by the minute, on real time: those that the service counted, and those that were heard since it did. */
export function Pulse({ of }: { of: Overview['pulse'] }) {
  useTicks()
  const heard = useHeardSince(of)
  const found = of.minutes.map(({ minute, events }) => ({ at: minute, amount: events }))
  // A browser whose clock is behind by seconds must not lose the present minute.
  const now = Math.max(Date.now(), Date.parse(found.at(-1)?.at ?? '') || 0)
  const values = columnsOf([...found, ...heard.map((at) => ({ at, amount: 1 }))], MINUTE, MINUTES, now)
  const sum = values.reduce((a, b) => a + b, 0)
  const said = `${counted({ count: sum, at_least: of.at_least })} ${sum === 1 ? 'event' : 'events'}`
  return (
    <Card title="Events, last 30 minutes">
      <Columns values={values} label={`${said} in the last 30 minutes, by minute`} />
      <div class="row between small faint">
        <span>30 min ago</span>
        <span>{said}</span>
        <span>now</span>
      </div>
    </Card>
  )
}

/** When events were heard that came after an answer; the next answer has them. */
function useHeardSince(answer: object) {
  const [heard, setHeard] = useState<{ since: object; at: string[] }>({ since: answer, at: [] })
  const hear = useCallback(() => {
    const at = new Date().toISOString()
    setHeard((now) => ({ since: answer, at: now.since === answer ? [...now.at, at] : [at] }))
  }, [answer])
  useEvents(hear)
  return heard.since === answer ? heard.at : []
}
