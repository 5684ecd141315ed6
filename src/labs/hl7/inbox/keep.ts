import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../../platform/app.ts'
import { sealLarge } from '../../../platform/sealing/large.ts'
import { sealBytes } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { findUserOfOrder } from '../../orders/reading/present.ts'
import { type Charset, encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, type Segment } from '../codec/rules-message.ts'
import { answerAssociatedData, bodyAssociatedData } from '../outbox/queue.ts'
import * as outbox from '../outbox/store.ts'
import { decryptAnswers, encryptBody } from './sealing.ts'
import * as store from './store.ts'

/** The part of a message about one patient, and where it was filed. */
export type FiledPart = {
  segments: Segment[]
  kind: 'result' | 'status'
  orders: { team_id: string; order_id: string }[]
  isMatched: boolean
  isQueued: boolean
}

/** Whether a person finds the part: with an order, or in a queue. */
export const wasSeen = ({ orders, isQueued }: FiledPart) => isQueued || orders.length > 0

type FiledMessage = { message: Message; envelope: Segment[]; bytes: Buffer; charset: Charset; parts: FiledPart[] }
type Change = { state?: string; due_at: string | null; error: string | null; attempts?: number }

/** Keeps each part with its orders, encrypted with the keys of their users. Only the others stay in the inbox, where no erasure finds them. */
export async function keepParts(app: App, row: store.Received, filed: FiledMessage, change: Change) {
  const moved = filed.parts.filter(({ orders }) => orders.length)
  const endSlice = cutIntoSlices()
  const copies: Awaited<ReturnType<typeof copiesOf>> = []
  for (const part of moved) {
    await endSlice()
    copies.push(...(await copiesOf(app, row, filed, part)))
  }
  const body = moved.length ? { sealed: await sealRest(app, row, filed, !change.error) } : {}
  await inTransaction(app, async ({ db }) => {
    const isFirst = await store.endFiling(db, row, { ...change, ...body })
    if (isFirst) for (const [position, copy] of copies.entries()) await outbox.insertMessages(db, [{ ...copy, position }])
  })
}

async function copiesOf(app: App, row: store.Received, filed: FiledMessage, { orders, segments, kind }: FiledPart) {
  const bytes = encodePart(filed, [segments])
  const answer = Buffer.concat(decryptAnswers(app, row, row.answer_sealed))
  const copies = orders.map(async ({ team_id, order_id }) => {
    const id = randomUUID()
    const user_id = await findUserOfOrder(app, team_id, order_id)
    const key = user_id && (await userSealingKey(app, team_id, user_id))
    if (!key) return []
    return [
      {
        ...{ team_id, id, order_id, lab_id: row.lab_id, kind },
        direction: 'in' as const,
        control_id: row.control_id,
        state: 'filed',
        queued_at: row.received_at,
        sealed: await sealLarge(key, bodyAssociatedData(id), bytes),
        answer_sealed: sealBytes(key, answerAssociatedData(id), answer),
      },
    ]
  })
  return (await Promise.all(copies)).flat()
}

/** What is left of a message: the parts without an order, or after a failure those that nobody would find. Null if there are none. */
async function sealRest(app: App, row: store.Received, filed: FiledMessage, isFiled: boolean) {
  const rest = filed.parts.filter((part) => (isFiled ? !part.isMatched : !wasSeen(part)))
  const segments = rest.map(({ segments }) => segments)
  return rest.length ? encryptBody(app, row, encodePart(filed, segments)) : null
}

/** A message of some of its patients, in the character set of the whole. */
function encodePart({ message, envelope, bytes, charset, parts }: FiledMessage, patients: Segment[][]) {
  if (patients.length === parts.length) return bytes
  return encodeText(formatMessage({ ...message, segments: [...envelope, ...patients.flat()] }), charset)
}
