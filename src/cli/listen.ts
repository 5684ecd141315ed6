import { setTimeout as pause } from 'node:timers/promises'
import { setupProblem } from '../problem.ts'
import { headersOf, newSecret, parseSecret, signatures, verify } from '../webhooks/sign.ts'
import { type Command, options, required } from './command.ts'
import { blocksOf } from './sse.ts'

const line = 'assay listen --url URL --key TEAM_API_KEY [--forward URL] [--secret whsec_…] [--types TYPE,TYPE*] [--after CURSOR] [--json]'

type Envelope = { event_id: string; event_type: string; user_id: string | null; created_at: string }
type Plan = { url: string; key: string; forward: string | undefined; secret: string; types: string | undefined; json: boolean | undefined }

/** A customer of the API: reads the log as it grows, so it works behind any firewall, and signs what it hands on as a webhook is signed. */
export const listenCommand: Command = {
  usage: line,
  summary: 'Receive events on this machine: print them and, with --forward, post them on, signed with --secret.',
  async run(args) {
    const text = { type: 'string' } as const
    const { values } = options(args, { url: text, key: text, forward: text, secret: text, types: text, after: text }, line)
    const secret = values.secret ?? newSecret()
    parseSecret(secret)
    const { forward, types, json } = values
    const plan = { url: required(values.url, '--url', line), key: required(values.key, '--key', line), forward, secret, types, json }
    if (forward && !values.secret) console.error(`What is posted on is signed with ${secret}`)
    await follow(plan, values.after ?? 'end')
  },
}

/** A stream that breaks is taken up where it was. */
async function follow(plan: Plan, from: string) {
  for (let after = from; ; await pause(1000)) {
    const response = await openStream(plan, after)
    if (!response?.body) continue
    try {
      for await (const { id, data } of blocksOf(response.body)) {
        if (data) await tell(plan, JSON.parse(data) as Envelope, data)
        if (id) after = id
      }
    } catch {
      console.error('The stream was lost; it is opened again.')
    }
  }
}

async function openStream({ url, key, types }: Plan, after: string) {
  const query = new URLSearchParams({ after })
  for (const type of (types ?? '').split(',').filter(Boolean)) query.append('event_type', type)
  const response = await fetch(`${url.replace(/\/+$/, '')}/events/stream?${query}`, { headers: { 'x-service-api-key': key } }).catch(
    () => undefined,
  )
  if (response && response.status >= 400 && response.status < 500) throw setupProblem(`${url} refused to stream: ${await response.text()}`)
  if (!response?.ok) console.error(`${url} does not answer; trying again.`)
  return response?.ok ? response : undefined
}

async function tell({ forward, secret, json }: Plan, envelope: Envelope, body: string) {
  const answer = forward ? await handOn(forward, secret, envelope.event_id, body) : ''
  console.log(
    json ? body : `${envelope.created_at}  ${envelope.event_type}  ${envelope.user_id ?? '-'}  ${envelope.event_id}  ${answer}`.trimEnd(),
  )
}

async function handOn(forward: string, secret: string, id: string, body: string) {
  const key = parseSecret(secret)
  const timestamp = Math.floor(Date.now() / 1000)
  const signed = headersOf({ id, timestamp, signature: signatures([key], id, timestamp, body), sequence: 0, key: 'listen' })
  const verdict = verify(key, signed, body, new Date().toISOString())
  const headers = { 'content-type': 'application/json', ...signed }
  const response = await fetch(forward, { method: 'POST', headers, body }).catch(() => undefined)
  return `${verdict} → ${response?.status ?? 'no answer'}`
}
