import { headersOf, newSecret, parseSecret, signatures, verify } from '../webhooks/sign.ts'
import { command } from './command.ts'
import { asTeam, reach } from './service.ts'
import { eventsOf, type Told } from './stream.ts'

/** A customer of the API: reads the log as it grows, so it works behind any firewall, and signs what it hands on as a webhook is signed. */
export const listenCommand = command({
  name: 'listen',
  summary: 'Receive events on this machine: print them and, with --forward, post them on, signed with --secret.',
  options: {
    ...reach,
    key: { value: 'TEAM_API_KEY', what: 'The key itself; others on this machine can read it, so ASSAY_API_KEY is better.' },
    forward: { value: 'URL', what: 'Where to post what comes.' },
    secret: { value: 'whsec_…', what: 'What signs it; made and shown unless given.' },
    types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
    after: { value: 'CURSOR', what: 'A place in the log: what comes after it.', fallback: 'end' },
  },
  examples: ['assay listen --forward http://127.0.0.1:3000/webhooks'],
  async run({ forward, json, types, after, ...given }) {
    const secret = given.secret ?? newSecret()
    parseSecret(secret)
    const service = asTeam(given)
    if (forward && !given.secret) console.error(`What is posted on is signed with ${secret}`)
    for await (const told of eventsOf(service, { after, types })) {
      const answer = forward ? await handOn(forward, secret, told) : ''
      console.log(json ? told.text : lineOf(told, answer))
    }
  },
})

export const lineOf = ({ envelope: { created_at, event_type, user_id, event_id } }: Pick<Told, 'envelope'>, more = '') =>
  `${created_at}  ${event_type}  ${user_id ?? '-'}  ${event_id}  ${more}`.trimEnd()

async function handOn(forward: string, secret: string, { envelope: { event_id: id }, text: body }: Told) {
  const key = parseSecret(secret)
  const timestamp = Math.floor(Date.now() / 1000)
  const signed = headersOf({ id, timestamp, signature: signatures([key], id, timestamp, body), sequence: 0, key: 'listen' })
  const verdict = verify(key, signed, body, new Date().toISOString())
  const headers = { 'content-type': 'application/json', ...signed }
  const response = await fetch(forward, { method: 'POST', headers, body }).catch(() => undefined)
  return `${verdict} → ${response?.status ?? 'no answer'}`
}
