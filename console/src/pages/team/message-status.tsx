import type { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { Status, type Tone } from '../../ui/basics.tsx'

export type Message = Awaited<ReturnType<typeof api.listMessages>>['messages'][number]

const tones: Record<string, Tone> = { sent: 'good', queued: 'info', planned: 'idle', failed: 'bad', canceled: 'idle' }

export const MessageStatus = ({ message: { status, error, tries } }: { message: Message }) => (
  <>
    <Status tone={tones[status] ?? 'idle'}>{humanize(status)}</Status>
    {error && (
      <div class="small muted">
        {error}
        {tries > 1 && `, ${tries} attempts`}
      </div>
    )}
  </>
)
