import { Status, type Tone } from '../../ui/basics.tsx'
import { lowOf, topOf, words } from '../../words.ts'

const tones: Record<string, Tone> = {
  received: 'info',
  collecting_sample: 'accent',
  sample_with_lab: 'warn',
  completed: 'good',
  cancelled: 'idle',
  failed: 'bad',
}

export const toneOf = (top: string): Tone => tones[top] ?? 'idle'

export const OrderStatus = ({ status }: { status: string }) => <Status tone={toneOf(topOf(status))}>{words(lowOf(status))}</Status>

type Reported = { interpretation: string | null; last_event: { status: string } }

const judged: Record<string, Tone> = { normal: 'good', abnormal: 'warn', critical: 'bad', unknown: 'idle' }

export const Interpretation = ({ of }: { of: string | null | undefined }) =>
  of ? <Status tone={judged[of] ?? 'idle'}>{words(of)}</Status> : <span class="faint">—</span>

/** Whether the lab has reported anything of the order; it may have failed afterwards. */
export const hasResults = ({ interpretation, last_event }: Reported) =>
  Boolean(interpretation) || /\.(partial_results|completed|corrected)$/.test(last_event.status)

/** The reading of a whole order. Nothing is well before everything was reported; what is amiss already stays so. */
export const Reading = ({ of: { interpretation, last_event } }: { of: Reported }) => {
  if (!interpretation || topOf(last_event.status) === 'completed') return <Interpretation of={interpretation} />
  const tone = interpretation === 'normal' ? 'idle' : (judged[interpretation] ?? 'idle')
  return <Status tone={tone}>Partial: {interpretation}</Status>
}
