import '../../style/orders.css'
import { isEnd, type Method, phases, stepsOf } from '../../../../src/contract/labs/lifecycle.ts'
import { humanize, lowLevelOf } from '../../format.ts'
import { Time } from '../../ui/basics.tsx'

type Event = { id: number; created_at: string; status: string; status_detail: string | null }
type TimelineStep = { low: string; state: 'past' | 'current' | 'expected'; at?: string; detail?: string | null }
type LifecycleProps = { method: Method; low: string; events: Event[] }

/** Shows past steps, the current step and the expected next steps. */
export function Lifecycle({ method, low, events }: LifecycleProps) {
  const steps = stepsOf(method)
  const timeline = [...pastSteps(events), ...expectedSteps(method, low)]
  const nextSteps = steps[low]?.to ?? []
  return (
    <div class="stack">
      <ol class="timeline" aria-label="Order timeline">
        {timeline.map(({ low, state, at, detail }, i) => (
          <li
            key={`${low} ${i}`}
            class={`timeline-step ${state} top-${steps[low]?.phase}`}
            {...(state === 'current' ? { 'aria-current': 'step' as const } : {})}
          >
            <span class="dot" aria-hidden="true" />
            <span class="name">{humanize(low)}</span>
            <span class="when small">{at ? <Time at={at} /> : state === 'expected' ? <span class="faint">Expected</span> : null}</span>
            {detail && <span class="small faint">{humanize(detail)}</span>}
          </li>
        ))}
      </ol>
      <p class="small muted">
        {isEnd(method, low) ? 'This is a final status.' : <>Possible next steps: {nextSteps.map(humanize).join(', ')}.</>}
      </p>
      <details>
        <summary class="small">All steps for this collection method</summary>
        <AllSteps method={method} low={low} events={events} />
      </details>
    </div>
  )
}

const pastSteps = (events: Event[]): TimelineStep[] =>
  events.map(({ status, created_at, status_detail }, i) => ({
    low: lowLevelOf(status),
    state: i === events.length - 1 ? 'current' : 'past',
    at: created_at,
    detail: status_detail,
  }))

/** The shortest path to results in the lifecycle table. */
function expectedSteps(method: Method, from: string): TimelineStep[] {
  const timeline: TimelineStep[] = []
  const seen = new Set([from])
  for (let low = stepsOf(method)[from]?.next; low && !seen.has(low); low = stepsOf(method)[low]?.next) {
    seen.add(low)
    timeline.push({ low, state: 'expected' })
  }
  return timeline
}

function AllSteps({ method, low, events }: LifecycleProps) {
  const steps = stepsOf(method)
  const visited = new Set(events.map(({ status }) => lowLevelOf(status)))
  const next = new Set(steps[low]?.to)
  return (
    <div class="map">
      {phases.map((phase) => (
        <div key={phase}>
          <h3>{humanize(phase)}</h3>
          <ul>
            {Object.keys(steps)
              .filter((step) => steps[step]?.phase === phase)
              .map((step) => (
                <li key={step} class={step === low ? 'current' : visited.has(step) ? 'past' : next.has(step) ? 'next' : ''}>
                  {humanize(step)}
                  <span class="sr">
                    {step === low ? ', current step' : visited.has(step) ? ', done' : next.has(step) ? ', possible next step' : ''}
                  </span>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
