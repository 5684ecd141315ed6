import { bodyOf, keyOfMessage } from '../../../events/body.ts'
import type { Endpoint } from '../../endpoints.ts'
import { receive } from '../../inbox.ts'
import { headersOfMessage, signatureOf } from '../contents.ts'
import type { SendingContext } from '../context.ts'
import type { Item } from './queues.ts'

export type Exchange = Awaited<ReturnType<typeof exchange>>

/** Sends a message once. */
export async function exchange(
  { app, send }: SendingContext,
  team_id: string,
  endpoint: Endpoint,
  { event, key: queue, previous }: Item,
  at: string,
) {
  const message = { ...event, event_id: event.id, team_id, key: queue, previous, sealed: event.sealed as Buffer }
  const key = await keyOfMessage(app, message)
  const body = bodyOf(key, message)
  const signature = signatureOf(endpoint, message, body, at)
  const headers = { ...endpoint.headers, ...headersOfMessage(message, signature, at) }
  const outcome = endpoint.inbox
    ? await receive(app, key, endpoint, { user_id: event.user_id, headers, body })
    : await send({ url: endpoint.url, headers, body })
  return { outcome, key, signature }
}
