import { headersOf, newSecret, parseSecret, signatures, verify } from '../delivery/webhooks/sign.ts'
import { command } from './command.ts'
import { schemaChecker } from './event-schemas.ts'
import { asTeam, HttpUrl, serviceOptions } from './service.ts'
import { type Envelope, eventsOf, type StreamedEvent } from './stream.ts'

/** Webhooks have this timeout too. */
const TIMEOUT_MS = 15_000

/** Reads the event stream, which works behind a firewall, and signs forwarded events like a webhook. */
export const listenCommand = command({
  name: 'listen',
  summary:
    'Receive events on this machine. The command checks each event against its schema and prints it. With --forward it also posts the event to a local URL, signed like a webhook.',
  options: {
    ...serviceOptions,
    key: { value: 'TEAM_API_KEY', what: 'Team API key. Other users of this machine can see it, so prefer ASSAY_API_KEY.' },
    forward: { value: 'URL', what: 'URL to post each event to.', shape: HttpUrl },
    secret: { value: 'whsec_…', what: 'Signing secret. Default: a new secret, which is printed.' },
    types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
    after: { value: 'CURSOR', what: 'Cursor to continue from, or start to read every stored event first.', fallback: 'end' },
  },
  examples: ['assay listen --forward http://127.0.0.1:3000/webhooks'],
  async run({ forward, json, types, after, ...access }) {
    const secret = access.secret ?? newSecret()
    parseSecret(secret)
    const service = asTeam(access)
    const findMismatches = schemaChecker()
    if (forward && !access.secret) console.error(`Signing secret: ${secret}`)
    for await (const event of eventsOf(service, { after, types })) {
      const outcome = forward ? await forwardEvent(forward, secret, event) : ''
      console.log(json ? event.text : lineOf(event, outcome))
      const mismatches = findMismatches(event.envelope)
      if (mismatches.length) console.error(mismatchText(event.envelope, mismatches, json))
    }
  },
})

export const lineOf = ({ envelope: { created_at, event_type, user_id, event_id } }: Pick<StreamedEvent, 'envelope'>, suffix = '') =>
  `${created_at}  ${event_type}  ${user_id ?? '-'}  ${event_id}  ${suffix}`.trimEnd()

const mismatchText = ({ event_id, event_type }: Envelope, mismatches: string[], json: boolean) =>
  json
    ? JSON.stringify({ event_id, event_type, mismatches })
    : `${event_type} ${event_id} does not match its schema:\n${mismatches.map((mismatch) => `  ${mismatch}`).join('\n')}`

async function forwardEvent(forward: string, secret: string, { envelope: { event_id: id }, text: body }: StreamedEvent) {
  const key = parseSecret(secret)
  const timestamp = Math.floor(Date.now() / 1000)
  const signed = headersOf({ id, timestamp, signature: signatures([key], id, timestamp, body), sequence: 0, key: 'listen' })
  const verdict = verify(key, signed, body, new Date().toISOString())
  const headers = { 'content-type': 'application/json', ...signed }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(forward, { method: 'POST', headers, body, signal }).catch(() => undefined)
  return `${verdict} → ${response?.status ?? 'no response'}`
}
