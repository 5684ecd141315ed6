import { humanize, lowLevelOf, topLevelOf } from '../../format.ts'
import { Status, type Tone } from '../../ui/basics.tsx'

const tones: Record<string, Tone> = {
  received: 'info',
  collecting_sample: 'accent',
  sample_with_lab: 'warn',
  completed: 'good',
  cancelled: 'idle',
  failed: 'bad',
}

export const toneOf = (top: string): Tone => tones[top] ?? 'idle'

export const OrderStatus = ({ status }: { status: string }) => (
  <Status tone={toneOf(topLevelOf(status))}>{humanize(lowLevelOf(status))}</Status>
)

type ReportedOrder = { interpretation: string | null; last_event: { status: string } }

const interpretationTones: Record<string, Tone> = { normal: 'good', abnormal: 'warn', critical: 'bad', unknown: 'idle' }

export const Interpretation = ({ value }: { value: string | null | undefined }) =>
  value ? <Status tone={interpretationTones[value] ?? 'idle'}>{humanize(value)}</Status> : <span class="faint">—</span>

/** True once the lab reported anything, even if the order failed later. */
export const hasResults = ({ interpretation, last_event }: ReportedOrder) =>
  Boolean(interpretation) || /\.(partial_results|completed|corrected)$/.test(last_event.status)

/** A partial report never counts as normal, because later results may be abnormal. */
export const OrderInterpretation = ({ value: { interpretation, last_event } }: { value: ReportedOrder }) => {
  if (!interpretation || topLevelOf(last_event.status) === 'completed') return <Interpretation value={interpretation} />
  const tone = interpretation === 'normal' ? 'idle' : (interpretationTones[interpretation] ?? 'idle')
  return <Status tone={tone}>Partial: {interpretation}</Status>
}
