import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export type LabMessage = Selectable<Tables['lab_messages']>
type MessageId = Pick<LabMessage, 'team_id' | 'id'>

/** Stores messages. One that is already stored stays as it is. */
export const insertMessages = (db: Db, rows: Insertable<Tables['lab_messages']>[]) =>
  db
    .insertInto('lab_messages')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['team_id', 'id']).doNothing())
    .execute()

/** Finds messages of any team that are due to be sent. */
export const searchMessages = (db: Db, wall: string) =>
  db
    .selectFrom('lab_messages')
    .select(['lab_id', 'due_at'])
    .where('due_at', '<=', wall)
    .orderBy('due_at')
    .modifyEnd(anyTeam('lab messages to send'))

/** The connections to a lab divide its orders by the last hexadecimal digit of the ID. */
const lastDigit = sql<string>`right(lab_messages.order_id::text, 1)`

/** The labs with due messages, by the last digit of the order. */
export const listDueLabs = (db: Db, wall: string) =>
  db
    .selectFrom('lab_messages')
    .innerJoin('labs', 'labs.id', 'lab_messages.lab_id')
    .select(['labs.id', 'labs.slug', lastDigit.as('digit')])
    .distinct()
    .where('due_at', '<=', wall)
    .modifyEnd(anyTeam('lab messages to send'))
    .execute()

/** The pending messages of a lab in the order in which they are sent, with the user of the order. `digits` are those of its orders. */
export const listPending = (db: Db, lab_id: number, digits: string[], limit: number) =>
  db
    .selectFrom('lab_messages')
    .innerJoin('orders', (join) =>
      join.onRef('orders.team_id', '=', 'lab_messages.team_id').onRef('orders.id', '=', 'lab_messages.order_id'),
    )
    .selectAll('lab_messages')
    .select('orders.user_id')
    .where('lab_messages.lab_id', '=', lab_id)
    .where('due_at', 'is not', null)
    .where(lastDigit, 'in', digits)
    .orderBy('queued_at')
    .orderBy('position')
    .limit(limit)
    .modifyEnd(anyTeam('lab messages of a lab'))
    .execute()

const updateMessage = (db: Db, { team_id, id }: MessageId) =>
  db.updateTable('lab_messages').where('team_id', '=', team_id).where('id', '=', id)

/** Records that an attempt begins, and when the next one is due if it fails; undefined if the message is no longer pending. */
export const beginAttempt = (db: Db, message: MessageId, due_at: string) =>
  updateMessage(db, message)
    .set((eb) => ({ attempts: eb('attempts', '+', 1), due_at }))
    .where('due_at', 'is not', null)
    .returning('attempts')
    .executeTakeFirst()

/** Records why an attempt failed. The time of the first failure stays until the lab answers. */
export const recordFailure = (db: Db, message: MessageId, error: string, at: string) =>
  updateMessage(db, message)
    .set((eb) => ({ error, failed_at: eb.fn.coalesce('failed_at', sql<string>`${at}::timestamptz`) }))
    .execute()

export const setMessage = (db: Db, message: MessageId, change: Updateable<Tables['lab_messages']>) =>
  updateMessage(db, message).set(change).execute()

/** Drops messages that place an order and that the lab does not have: never sent, or rejected. */
export const dropOrderMessages = (db: Db, team_id: string, order_id: string) =>
  db
    .updateTable('lab_messages')
    .set({ state: 'dropped', due_at: null })
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('kind', '=', 'order')
    .where((eb) => eb.or([eb('state', '=', 'rejected'), eb.and([eb('state', '=', 'pending'), eb('attempts', '=', 0)])]))
    .execute()

type Backlog = { lab: string; pending: number; oldest_at: string | null; rejected: number }

/** The messages of any team that wait to be sent, or that labs rejected, by lab. */
export const summarizeMessages = async (db: Db) =>
  (
    await sql<Backlog>`
      select ${anyTeam('lab messages of a lab')} labs.slug as lab, count(*) filter (where m.due_at is not null)::int as pending,
        min(m.queued_at) filter (where m.due_at is not null) as oldest_at, count(*) filter (where m.state = 'rejected')::int as rejected
      from lab_messages m join labs on labs.id = m.lab_id
      where m.state in ('pending', 'stored', 'rejected') group by labs.slug`.execute(db)
  ).rows

/** The messages that Assay sent, or is to send, about an order. */
export const listSent = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('lab_messages')
    .select(['id', 'kind', 'state', 'attempts', 'control_id'])
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('direction', '=', 'out')
    .orderBy('queued_at')
    .orderBy('position')
    .forUpdate()
    .execute()

/** The latest message to a lab with this control ID, of any team. */
export const findSentByControlId = (db: Db, lab_id: number, control_id: string) =>
  db
    .selectFrom('lab_messages')
    .selectAll()
    .where('lab_id', '=', lab_id)
    .where('control_id', '=', control_id)
    .where('direction', '=', 'out')
    .orderBy('queued_at', 'desc')
    .limit(1)
    .modifyEnd(anyTeam('lab messages by control ID'))
    .executeTakeFirst()

export const deleteMessage = (db: Db, { team_id, id }: MessageId) =>
  db.deleteFrom('lab_messages').where('team_id', '=', team_id).where('id', '=', id).execute()

export const deleteMessagesOf = (db: Db, team_id: string, order_ids: string[]) =>
  db.deleteFrom('lab_messages').where('team_id', '=', team_id).where('order_id', '=', sql<string>`any(${order_ids}::uuid[])`).execute()

/** The states in which a message can be sent again. */
export const openStates = ['pending', 'stored', 'rejected']

/** Messages of any team that are not accepted yet, oldest first. */
export const listOpen = (db: Db, lab_id: number | undefined, limit: number) =>
  db
    .selectFrom('lab_messages')
    .innerJoin('labs', 'labs.id', 'lab_messages.lab_id')
    .select(['lab_messages.id', 'labs.slug as lab', 'team_id', 'order_id', 'kind', 'lab_messages.state', 'attempts', 'answer_code'])
    .select(['error', 'queued_at', 'due_at'])
    .where('direction', '=', 'out')
    .where('lab_messages.state', 'in', openStates)
    .$if(lab_id !== undefined, (query) => query.where('lab_id', '=', lab_id as number))
    .orderBy('queued_at')
    .orderBy('position')
    .limit(limit)
    .modifyEnd(anyTeam('lab messages of a lab'))
    .execute()

/** Finds a message by its ID alone, for the operator. */
export const findTeamOf = (db: Db, id: string) =>
  db.selectFrom('lab_messages').select('team_id').where('id', '=', id).modifyEnd(anyTeam('lab messages of a lab')).executeTakeFirst()

/** Makes a message due that the lab has not accepted; undefined if there is none. */
export const reopen = (db: Db, { team_id, id }: MessageId, due_at: string) =>
  db
    .updateTable('lab_messages')
    .set({ state: 'pending', due_at, error: null, failed_at: null })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('direction', '=', 'out')
    .where('state', 'in', openStates)
    .returning(['id', 'team_id', 'order_id', 'control_id'])
    .executeTakeFirst()
