import type { Sender } from '../../../platform/outbound/send.ts'
import type { LogReader } from '../../events/read.ts'
import type { FormatContext } from '../../formats/body.ts'
import type { Shares } from './shares.ts'

/** What a worker shares with the webhooks that it delivers to. */
export type SendingContext = FormatContext & {
  send: Sender['post']
  /** How long a request may take. */
  timeoutMs: number
  /** Whether this worker has its lease. Without it, others may be sending. */
  isHeld(): boolean
  /** Requests in flight, messages and bytes in windows, by team. */
  requests: Shares
  messages: Shares
  bytes: Shares
}

/** The log of the team that a webhook reads. */
export type TeamLog = LogReader & {
  /** Records what has happened: soon, or now. */
  recordSoon(isUrgent: boolean): void
  /** Resolves when everything up to now is recorded. */
  recorded(): Promise<void>
}
