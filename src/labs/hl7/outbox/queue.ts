import { randomUUID } from 'node:crypto'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { sealBytes } from '../../../platform/sealing/seal.ts'
import type { LoadedOrder } from '../../orders/reading/present.ts'
import { newSampleId } from '../../orders/sample-ids.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import type { Link } from '../links/connections.ts'
import { encodeMessage } from '../messages/rules-bytes.ts'
import { type Envelope, orderMessages } from '../messages/rules-order.ts'
import { loadOrderToSend } from './order-to-send.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The sandbox exchanges test messages only. */
export const processingId = ({ config }: Pick<App, 'config'>) => (config.ENVIRONMENT === 'sandbox' ? 'T' : 'P')

/** Writes the messages that place an order, in the caller's transaction. Returns the number of the order at the lab. */
export async function queueOrder(app: App, link: Link, order: LoadedOrder) {
  const number = order.sample_id ?? newSampleId()
  await queue(app, link, { ...order, sample_id: number }, 'NW')
  return number
}

/** Writes the messages that cancel an order, unless the lab does not have it. Messages that the lab does not have are dropped. */
export async function queueCancellation(app: AppInTransaction, link: Link, order: LoadedOrder): Promise<'cancelled' | 'requested'> {
  const cancellation = rules.cancellationOf(await store.listSent(app.db, order.team_id, order.id))
  if (cancellation === 'requested') return 'requested'
  await store.dropOrderMessages(app.db, order.team_id, order.id)
  if (cancellation === 'not_at_lab') return 'cancelled'
  await queue(app, link, order, 'CA')
  return 'requested'
}

async function queue(app: App, { profile }: Link, order: LoadedOrder, action: Envelope['action']) {
  const { team_id, id: order_id, lab_id, key } = order
  const envelope: Envelope = { action, controlId: newControlId, sent_at: app.wall(), processing_id: processingId(app) }
  const messages = orderMessages({ profile, order: await loadOrderToSend(app, order, order.sample_id as string), envelope })
  const queued_at = app.wall()
  await store.insertMessages(
    app.db,
    messages.map((message, position) => {
      const id = randomUUID()
      return {
        ...{ team_id, id, order_id, lab_id, position, queued_at },
        direction: 'out',
        kind: action === 'NW' ? 'order' : 'cancel',
        control_id: readValue(segmentOf(message, 'MSH'), 10),
        state: 'pending',
        due_at: queued_at,
        sealed: sealBytes(key, bodyAssociatedData(id), encodeMessage(profile, message)),
      }
    }),
  )
}

/** MSH-10 has at most 20 characters. */
const newControlId = () => `${newSampleId()}${newSampleId()}`.slice(0, 20)

export const bodyAssociatedData = (id: string) => `lab_messages.sealed.${id}`
export const answerAssociatedData = (id: string) => `lab_messages.answer_sealed.${id}`

/** Deletes the messages of orders whose users are being erased, in the caller's transaction. */
export const forgetMessages = (app: AppInTransaction, team_id: string, order_ids: string[]) =>
  store.deleteMessagesOf(app.db, team_id, order_ids)
