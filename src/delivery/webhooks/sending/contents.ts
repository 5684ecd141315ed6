import { timeOrderedId } from '../../../platform/db/time-ordered-id.ts'
import type { Outcome } from '../../../platform/outbound/outcome.ts'
import { type SealingKey, sealBytes, sealCompressed } from '../../../platform/sealing/seal.ts'
import type { Endpoint } from '../endpoints.ts'
import type { AttemptVerdict } from '../rules.ts'
import { headersOf, signatures } from '../sign.ts'
import { signEd25519 } from '../sign-ed25519.ts'
import type { NewAttempt } from './store-cursors.ts'

/** An example has no position. */
type NumberedMessage = { event_id: string; no: number | null; previous: number | null; key: string | null }

/** Signatures by every secret and key pair that is valid now. */
export const signatureOf = (
  { secrets, private_keys }: Endpoint,
  { event_id }: Pick<NumberedMessage, 'event_id'>,
  body: string,
  at: string,
) =>
  [signatures(secrets, event_id, secondsOf(at), body), ...private_keys.map((key) => signEd25519(key, event_id, secondsOf(at), body))].join(
    ' ',
  )

/** The headers of a message, apart from the webhook's own. */
export const headersOfMessage = (
  { event_id, no, previous, key, content_type = 'application/json' }: NumberedMessage & { content_type?: string | undefined },
  signature: string,
  at: string,
) => ({
  'content-type': content_type,
  ...headersOf({ id: event_id, timestamp: secondsOf(at), signature, sequence: no ?? 0, previous, key: key ?? '' }),
})

const secondsOf = (at: string) => Math.floor(Date.parse(at) / 1000)

/** The encrypted part of an attempt. The rest of the request follows from its row and the event. */
export type AttemptContents = {
  url: string
  signature: string
  /** The webhook's headers with sensitive values hidden. */
  headers: Record<string, string>
  /** Set for an example, which has no event, and for a body that is not the event in full. */
  body?: string | undefined
  /** Set with a body that is not plain JSON. */
  content_type?: string | undefined
  response_headers: Record<string, string>
  response_body: string
  truncated: boolean
  timing: Outcome['ms']
}

export const attemptAssociatedData = (id: string) => `attempts.sealed.${id}`

type AttemptDetails = {
  attempt: number
  at: string
  outcome: Outcome
  verdict: AttemptVerdict
  signature: string
  body?: string | undefined
  content_type?: string | undefined
}
type AttemptedMessage = NumberedMessage & { team_id: string; user_id: string | null; event_at: string | null; event_type: string }

export function attemptOf(key: SealingKey, endpoint: Endpoint, message: AttemptedMessage, details: AttemptDetails): NewAttempt {
  const { outcome, verdict } = details
  const id = timeOrderedId(details.at)
  const contents: AttemptContents = {
    url: endpoint.url,
    signature: details.signature,
    headers: endpoint.shown_headers,
    body: details.body,
    content_type: details.content_type,
    response_headers: outcome.response_headers,
    response_body: outcome.response_body.toString(),
    truncated: outcome.truncated,
    timing: outcome.ms,
  }
  return {
    id,
    at: details.at,
    team_id: message.team_id,
    webhook_id: endpoint.id,
    user_id: message.user_id,
    event_id: message.event_id,
    event_at: message.event_at,
    no: message.no,
    previous: message.previous,
    event_type: message.event_type,
    key: message.key,
    attempt: details.attempt,
    outcome: verdict.state === 'waiting' ? 'retried' : verdict.state,
    status: outcome.status,
    error: outcome.error,
    ms: Math.round(outcome.ms.total),
    next_at: verdict.state === 'waiting' ? verdict.due_at : null,
    sealed: sealContents(key, attemptAssociatedData(id), JSON.stringify(contents)),
  }
}

/** Most attempts have a short response. Compressing those would take a tenth of a delivery's CPU time and save little. */
const COMPRESSED_FROM = 1024

const sealContents = (key: SealingKey, associatedData: string, text: string) =>
  text.length < COMPRESSED_FROM ? sealBytes(key, associatedData, Buffer.from(text)) : sealCompressed(key, associatedData, text)
