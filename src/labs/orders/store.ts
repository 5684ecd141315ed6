import { type Insertable, type Selectable, sql } from 'kysely'
import { type Db, prepareRead, runPrepared } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type OrderRow = Omit<Selectable<Tables['orders']>, 'terms' | 'changed_at'>
type EventRow = { id: number; low_level: string; status_detail: string | null; created_at: string }
export type Sibling = Pick<
  OrderRow,
  'id' | 'method' | 'low_level' | 'last_event_at' | 'origin' | 'parent_id' | 'created_at' | 'updated_at' | 'transaction_id'
>
export type LoadedRow = OrderRow & {
  user_id: string
  client_user_id: string
  /** The setting of the team. */
  strict_enums: boolean
  key_id: string
  wrapped_key: Buffer
  events: EventRow[]
  siblings: Sibling[]
  /** The latest appointment. */
  appointment: { id: string; status: string; type: string; start_at: string | null; end_at: string | null } | null
}

const orderColumns = [
  ...(['id', 'team_id', 'user_id', 'transaction_id', 'parent_id', 'origin', 'lab_id', 'lab_test_id', 'lab_account_id', 'method'] as const),
  ...(['low_level', 'last_event', 'last_event_at', 'created_at', 'updated_at', 'registrable', 'zone', 'activate_by'] as const),
  ...(['scheduled', 'dispatch_at', 'sent_at', 'step_at', 'simulation', 'seed', 'sample_id', 'billing_type', 'priority'] as const),
  ...(['has_abn', 'health_insurance_id', 'collected_at', 'expected_result_by_date', 'worst_case_result_by_date'] as const),
  ...(['interpretation', 'has_missing_results', 'result_version', 'sealed'] as const),
] satisfies (keyof OrderRow)[]

const isoText = (column: string) => sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * Orders of a team whose users still exist, in the order of the IDs: with the wrapped key of the user, the events, and the
 * orders of the same transaction. The user and the key are looked up per order: until the first statistics of a table,
 * PostgreSQL would read all users of the team for a join.
 */
const loadedOrders = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('orders')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('users')
          .select('client_user_id')
          .where('users.team_id', '=', team_id)
          .whereRef('users.user_id', '=', 'orders.user_id')
          .limit(sql.lit(1))
          .as('patient'),
      (join) => join.onTrue(),
    )
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('sealing_keys')
          .select(['id as key_id', 'wrapped as wrapped_key'])
          .where('sealing_keys.team_id', '=', team_id)
          .whereRef('sealing_keys.user_id', '=', 'orders.user_id')
          .limit(sql.lit(1))
          .as('sealing_key'),
      (join) => join.onTrue(),
    )
    .select(orderColumns.map((column) => `orders.${column}` as const))
    .select(['patient.client_user_id', 'sealing_key.key_id', 'sealing_key.wrapped_key'])
    .select([
      sql<boolean>`(select strict_enums from teams where id = ${team_id})`.as('strict_enums'),
      sql<EventRow[]>`(select json_agg(json_build_object('id', e.id, 'low_level', e.low_level, 'status_detail', e.status_detail,
        'created_at', ${isoText('e.created_at')}) order by e.id)
        from order_events e where e.team_id = ${team_id} and e.order_id = orders.id)`.as('events'),
      sql<Sibling[]>`(select json_agg(json_build_object('id', s.id, 'method', s.method, 'low_level', s.low_level,
        'last_event_at', ${isoText('s.last_event_at')}, 'origin', s.origin, 'parent_id', s.parent_id,
        'created_at', ${isoText('s.created_at')}, 'updated_at', ${isoText('s.updated_at')}, 'transaction_id', s.transaction_id)
        order by s.created_at, s.id)
        from orders s where s.team_id = ${team_id} and s.transaction_id = orders.transaction_id)`.as('siblings'),
      sql<LoadedRow['appointment']>`(select json_build_object('id', a.id, 'status', a.status, 'type', a.type,
        'start_at', ${isoText('a.start_at')}, 'end_at', ${isoText('a.end_at')})
        from appointments a where a.team_id = ${team_id} and a.order_id = orders.id order by a.created_at desc, a.id limit 1)`.as(
        'appointment',
      ),
    ])
    .where('orders.team_id', '=', team_id)
    .where('orders.id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy(sql`array_position(${ids}::uuid[], orders.id)`)
    .$castTo<LoadedRow>()

const oneOrder = prepareRead('find_orders', loadedOrders)

export const findOrder = async (db: Db, team_id: string, id: string) => (await oneOrder(db, team_id, [id]))[0]

export const findUserOf = (db: Db, team_id: string, id: string) =>
  db.selectFrom('orders').select('user_id').where('team_id', '=', team_id).where('id', '=', id).executeTakeFirst()

/** Finds orders, in the order of the IDs. */
export const findOrders = prepareRead('find_orders', loadedOrders, runPrepared)

/** The orders of a transaction, oldest first. */
export async function findByTransaction(db: Db, team_id: string, transaction_id: string) {
  const rows = await db
    .selectFrom('orders')
    .select('id')
    .where('team_id', '=', team_id)
    .where('transaction_id', '=', transaction_id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return findOrders(
    db,
    team_id,
    rows.map(({ id }) => id),
  )
}

const ordersToLock = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('orders')
    .select(['id', 'dispatch_at', 'step_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()

/** Locks the orders until the transaction ends. Read them afterward: the locking query itself may return old events. */
export const lockOrders = prepareRead('lock_orders', ordersToLock, runPrepared)

/** The same, without the orders that another transaction holds. */
export const lockFreeOrders = prepareRead(
  'lock_free_orders',
  (db, team_id: string, ids: string[]) => ordersToLock(db, team_id, ids).skipLocked(),
  runPrepared,
)

/** Prefers a kit, because another lab may use the same sample_id for an order that is not one, and the order that continues a kit. */
export const findBySample = (db: Db, team_id: string, sample_id: string) =>
  db
    .selectFrom('orders')
    .select('id')
    .where('team_id', '=', team_id)
    .where('sample_id', '=', sample_id)
    .where('user_id', 'is not', null)
    .orderBy('registrable', 'desc')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()

type OrderKey = { team_id: string; id: string }

const updateOrder = (db: Db, { team_id, id }: OrderKey) => db.updateTable('orders').where('team_id', '=', team_id).where('id', '=', id)

/** Sets the simulator's planned steps without emitting an event. */
export const setPlannedSteps = (db: Db, order: OrderKey, change: { step_at: string | null; simulation: string | null }) =>
  updateOrder(db, order).set(change).execute()

/** Marks the order as sent to a lab that accepts it later, so that the list of a partner lab shows it as changed. */
export const markSent = (db: Db, order: OrderKey, { sent_at, sample_id }: { sent_at: string; sample_id: string | null }) =>
  updateOrder(db, order)
    .set({ dispatch_at: null, sent_at, sample_id, updated_at: sent_at, changed_at: sql`date_trunc('milliseconds', now())` })
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
