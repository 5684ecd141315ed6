import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type OrderRow = Omit<Selectable<Tables['orders']>, 'terms' | 'changed_at'>
type EventRow = { id: number; low_level: string; status_detail: string | null; created_at: string }
export type Sibling = Pick<
  OrderRow,
  'id' | 'method' | 'low_level' | 'last_event_at' | 'origin' | 'parent_id' | 'created_at' | 'updated_at' | 'transaction_id'
>
export type LoadedRow = OrderRow & { user_id: string; client_user_id: string; key_id: string; wrapped_key: Buffer; events: EventRow[] }

const siblingColumns = [
  'id',
  'method',
  'low_level',
  'last_event_at',
  'origin',
  'parent_id',
  'created_at',
  'updated_at',
  'transaction_id',
] as const

/** Orders of a team whose users still exist, with the user's wrapped key and the events. */
const loadedOrders = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'orders.team_id').onRef('users.user_id', '=', 'orders.user_id'))
    .innerJoin('sealing_keys', (join) =>
      join.onRef('sealing_keys.team_id', '=', 'orders.team_id').onRef('sealing_keys.user_id', '=', 'orders.user_id'),
    )
    .selectAll('orders')
    .select(['users.client_user_id', 'sealing_keys.id as key_id', 'sealing_keys.wrapped as wrapped_key'])
    .select(
      sql<EventRow[]>`(select json_agg(json_build_object('id', e.id, 'low_level', e.low_level, 'status_detail', e.status_detail,
        'created_at', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by e.id)
        from order_events e where e.team_id = ${team_id} and e.order_id = orders.id)`.as('events'),
    )
    .where('orders.team_id', '=', team_id)
    .$castTo<LoadedRow>()

export const findOrder = (db: Db, team_id: string, id: string) => loadedOrders(db, team_id).where('orders.id', '=', id).executeTakeFirst()

/** Finds orders, in the order of the IDs. */
export const findOrders = (db: Db, team_id: string, ids: string[]) =>
  loadedOrders(db, team_id)
    .where('orders.id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy(sql`array_position(${ids}::uuid[], orders.id)`)
    .execute()

export const findByTransaction = (db: Db, team_id: string, transaction_id: string) =>
  loadedOrders(db, team_id).where('orders.transaction_id', '=', transaction_id).orderBy('orders.created_at').orderBy('orders.id').execute()

/** Locks the orders until the transaction ends. Read them afterward: the locking query itself may return old events. */
export const lockOrders = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('orders')
    .select(['id', 'dispatch_at', 'step_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()

/** Locks one order unless another transaction holds it. */
export const tryLockOrder = (db: Db, team_id: string, id: string) =>
  db
    .selectFrom('orders')
    .select(['dispatch_at', 'step_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const listSiblings = (db: Db, team_id: string, transaction_ids: string[]) =>
  db
    .selectFrom('orders')
    .select(siblingColumns)
    .where('team_id', '=', team_id)
    .where('transaction_id', '=', sql<string>`any(${transaction_ids}::uuid[])`)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Prefers a kit, because another lab may use the same sample_id for an order that is not one. */
export const findBySample = (db: Db, team_id: string, sample_id: string) =>
  db
    .selectFrom('orders')
    .select('id')
    .where('team_id', '=', team_id)
    .where('sample_id', '=', sample_id)
    .where('user_id', 'is not', null)
    .orderBy('registrable', 'desc')
    .limit(1)
    .executeTakeFirst()

type OrderKey = { team_id: string; id: string }

const updateOrder = (db: Db, { team_id, id }: OrderKey) => db.updateTable('orders').where('team_id', '=', team_id).where('id', '=', id)

/** Sets the simulator's planned steps without emitting an event. */
export const setPlannedSteps = (db: Db, order: OrderKey, change: { step_at: string | null; simulation: string | null }) =>
  updateOrder(db, order).set(change).execute()

/** Marks the order as sent to a partner lab, so that the lab's list shows it as changed. */
export const markSent = (db: Db, order: OrderKey, updated_at: string) =>
  updateOrder(db, order)
    .set({ dispatch_at: null, sent_at: updated_at, updated_at, changed_at: sql`date_trunc('milliseconds', now())` })
    .execute()

export const setTerms = (db: Db, order: OrderKey, terms: string[]) => updateOrder(db, order).set({ terms }).execute()

export const insertImages = (db: Db, rows: Insertable<Tables['order_images']>[]) => db.insertInto('order_images').values(rows).execute()

type ChangeFilter = { order_ids?: string[] | null | undefined; start_at?: string | null | undefined; end_at?: string | null | undefined }

export const listChangedOrders = (db: Db, team_id: string, { order_ids, start_at, end_at }: ChangeFilter, limit: number) =>
  db
    .selectFrom('orders')
    .select('id')
    .where('team_id', '=', team_id)
    .where('user_id', 'is not', null)
    .$if(!!order_ids?.length, (query) => query.where('id', '=', sql<string>`any(${order_ids}::uuid[])`))
    .$if(!!start_at, (query) => query.where('updated_at', '>=', start_at as string))
    .$if(!!end_at, (query) => query.where('updated_at', '<=', end_at as string))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Deletes every order of the team, with its events, images and results; returns how many orders there were. */
export const deleteOrdersOf = async (db: Db, team_id: string) =>
  Number((await db.deleteFrom('orders').where('team_id', '=', team_id).executeTakeFirst()).numDeletedRows)

/** Detaches the orders of erased users and deletes the personal data in them; returns the IDs of the orders. */
export async function forgetPatients(db: Db, team_id: string, user_ids: string[]) {
  const { rows } = await sql<{ order_ids: string[] }>`select forget_patients(${team_id}, ${user_ids}) as order_ids`.execute(db)
  return rows[0]?.order_ids ?? []
}
