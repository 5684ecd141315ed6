import '../../style/orders.css'
import { isEnd, type Method, stepsOf, topLevels } from '../../../../src/contract/labs/lifecycle.ts'
import { Time } from '../../ui/basics.tsx'
import { lowOf, words } from '../../words.ts'

type Event = { id: number; created_at: string; status: string; status_detail: string | null }
type Stop = { low: string; state: 'past' | 'here' | 'ahead'; at?: string; detail?: string | null }
type LifecycleProps = { method: Method; low: string; events: Event[] }

/** The way that the order took, where it stands, and the way that is usual from there; all steps of the method behind it. */
export function Lifecycle({ method, low, events }: LifecycleProps) {
  const steps = stepsOf(method)
  const stops = [...taken(events), ...usual(method, low)]
  const mayFollow = steps[low]?.to ?? []
  return (
    <div class="stack">
      <ol class="way" aria-label="Steps of the order">
        {stops.map(({ low, state, at, detail }, i) => (
          <li
            key={`${low} ${i}`}
            class={`stop ${state} top-${steps[low]?.top}`}
            {...(state === 'here' ? { 'aria-current': 'step' as const } : {})}
          >
            <span class="dot" aria-hidden="true" />
            <span class="name">{words(low)}</span>
            <span class="when small">{at ? <Time at={at} /> : state === 'ahead' ? <span class="faint">to come</span> : null}</span>
            {detail && <span class="small faint">{words(detail)}</span>}
          </li>
        ))}
      </ol>
      <p class="small muted">{isEnd(method, low) ? 'The order ends here.' : <>May follow: {mayFollow.map(words).join(', ')}.</>}</p>
      <details>
        <summary class="small">All steps of this collection method</summary>
        <AllSteps method={method} low={low} events={events} />
      </details>
    </div>
  )
}

const taken = (events: Event[]): Stop[] =>
  events.map(({ status, created_at, status_detail }, i) => ({
    low: lowOf(status),
    state: i === events.length - 1 ? 'here' : 'past',
    at: created_at,
    detail: status_detail,
  }))

/** The simulator's way to results, as the table gives it. */
function usual(method: Method, from: string): Stop[] {
  const stops: Stop[] = []
  const seen = new Set([from])
  for (let low = stepsOf(method)[from]?.next; low && !seen.has(low); low = stepsOf(method)[low]?.next) {
    seen.add(low)
    stops.push({ low, state: 'ahead' })
  }
  return stops
}

function AllSteps({ method, low, events }: LifecycleProps) {
  const steps = stepsOf(method)
  const been = new Set(events.map(({ status }) => lowOf(status)))
  const next = new Set(steps[low]?.to)
  return (
    <div class="map">
      {topLevels.map((top) => (
        <div key={top}>
          <h3>{words(top)}</h3>
          <ul>
            {Object.keys(steps)
              .filter((one) => steps[one]?.top === top)
              .map((one) => (
                <li key={one} class={one === low ? 'here' : been.has(one) ? 'past' : next.has(one) ? 'next' : ''}>
                  {words(one)}
                  <span class="sr">
                    {one === low ? ', the order stands here' : been.has(one) ? ', was passed' : next.has(one) ? ', may follow' : ''}
                  </span>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
