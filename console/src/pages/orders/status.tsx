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

const judged: Record<string, Tone> = { normal: 'good', abnormal: 'warn', critical: 'bad', unknown: 'idle' }

export const Interpretation = ({ of }: { of: string | null | undefined }) =>
  of ? <Status tone={judged[of] ?? 'idle'}>{words(of)}</Status> : <span class="faint">—</span>
