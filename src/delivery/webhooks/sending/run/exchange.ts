import type { Outcome } from '../../../../platform/outbound/outcome.ts'
import { fieldsOf } from '../../../disclosures/actions.ts'
import { keyOfMessage } from '../../../events/body.ts'
import { type Body, bodyInFormat } from '../../../formats/body.ts'
import { presentFormat } from '../../../formats/rules.ts'
import { type Endpoint, receiverOf } from '../../endpoints.ts'
import { receive } from '../../inbox.ts'
import { headersOfMessage, signatureOf } from '../contents.ts'
import type { SendingContext } from '../context.ts'
import type { Item } from './queues.ts'
import type { RunState } from './run-state.ts'

export type Exchange = Awaited<ReturnType<typeof exchange>>

/** Sends a message once. */
export async function exchange(
  context: SendingContext,
  { team_id, formats }: Pick<RunState, 'team_id' | 'formats'>,
  endpoint: Endpoint,
  { event, key: queue, previous, format }: Item,
  at: string,
) {
  const { app, send } = context
  const message = { ...event, event_id: event.id, team_id, key: queue, previous, sealed: event.sealed as Buffer }
  const key = await keyOfMessage(app, message)
  const { include_client_user_id } = presentFormat(formats)
  const target = { team_id, destination: endpoint.id, format, include_client_user_id }
  const body = await bodyInFormat(context, { ...target, key, event: { ...event, sealed: message.sealed } })
  const signature = signatureOf(endpoint, message, body.text, at)
  const headers = { ...endpoint.headers, ...headersOfMessage({ ...message, ...body }, signature, at) }
  const outcome = endpoint.inbox
    ? await receive(app, key, endpoint, { user_id: event.user_id, headers, body: body.text })
    : await send({ url: endpoint.url, headers, body: body.text })
  return { outcome, key, signature, body: storedBody(body), disclosed: disclosedBy(endpoint, event, body, outcome, at) }
}

/** The event in full is read from the log again. */
const storedBody = ({ text, full, content_type }: Body) => (text === full ? {} : { body: text, content_type })

/** What a request has told its receiver. One that ended without a response may have arrived. */
function disclosedBy(endpoint: Endpoint, event: Item['event'], { full }: Body, { status, ms }: Outcome, at: string) {
  const hasArrived = status !== null || ms.connected !== null
  if (endpoint.inbox || full === undefined || !hasArrived) return []
  const { event_type } = event
  return [{ destination: endpoint.id, receiver: receiverOf(endpoint), event_type, at, fields: fieldsOf(event, full) }]
}
