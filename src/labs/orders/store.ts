import { type Insertable, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { type Db, prepareRead, prepareSearch } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type OrderRow = Omit<Selectable<Tables['orders']>, 'terms' | 'changed_at'>
type EventRow = { id: number; low_level: string; status_detail: string | null; created_at: string }
export type Sibling = Pick<
  OrderRow,
  'id' | 'method' | 'low_level' | 'last_event_at' | 'origin' | 'parent_id' | 'created_at' | 'updated_at' | 'transaction_id'
>
/** The columns that responses show, or that their fields depend on. */
export const shownColumns = [
  ...(['id', 'team_id', 'user_id', 'transaction_id', 'parent_id', 'origin', 'lab_test_id', 'method', 'low_level'] as const),
  ...(['last_event_at', 'created_at', 'updated_at', 'activate_by', 'dispatch_at', 'sample_id', 'billing_type', 'priority'] as const),
  ...(['has_abn', 'health_insurance_id', 'expected_result_by_date', 'worst_case_result_by_date'] as const),
  ...(['interpretation', 'has_missing_results', 'sealed'] as const),
] satisfies (keyof OrderRow)[]

const otherColumns = [
  ...(['lab_id', 'lab_account_id', 'last_event', 'registrable', 'zone', 'scheduled', 'sent_at', 'step_at'] as const),
  ...(['simulation', 'seed', 'collected_at', 'result_version'] as const),
] satisfies (keyof OrderRow)[]

/** What a response shows of an order. */
export type ShownRow = Pick<OrderRow, (typeof shownColumns)[number]> & {
  user_id: string
  /** The setting of the team. */
  strict_enums: boolean
  key_id: string
  wrapped_key: Buffer
  events: EventRow[]
  siblings: Sibling[]
  /** The latest appointment. */
  appointment: { id: string; status: string; type: string; start_at: string | null; end_at: string | null } | null
}
export type LoadedRow = ShownRow & Pick<OrderRow, (typeof otherColumns)[number]> & { client_user_id: string }

/** A time inside JSON, which PostgreSQL writes with an offset and without trailing zeros. */
const inJson = /^([^.+]+)(?:\.(\d{1,6}))?\+00:00$/

function instantOf(text: string) {
  const [, seconds, fraction = ''] = inJson.exec(text) ?? []
  return seconds ? `${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z` : new Date(text).toISOString()
}

const siblingFields = [
  ...(['id', 'method', 'low_level', 'last_event_at', 'origin', 'parent_id', 'created_at', 'updated_at', 'transaction_id'] as const),
] satisfies (keyof Sibling)[]

/** As PostgreSQL returns it. The siblings are null if the transaction has no other order. */
type Found<R extends ShownRow> = Omit<R, 'siblings'> & { siblings: Sibling[] | null }

export type OrderSource = SelectQueryBuilder<Tables, 'orders', {}>

/**
 * Orders of a team whose users, and so their keys, still exist: with the wrapped key of the user, the events, and the orders of the
 * same transaction if there are others. The key is looked up per order: until the first statistics of a table, PostgreSQL would read
 * all keys of the team for a join. Rows become JSON as a whole, which takes half the time of fields with names.
 */
export const shownFrom = (orders: OrderSource, team_id: string) =>
  orders
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
    .select(shownColumns.map((column) => `orders.${column}` as const))
    .select(['sealing_key.key_id', 'sealing_key.wrapped_key'])
    .select([
      sql<boolean>`(select strict_enums from teams where id = ${team_id})`.as('strict_enums'),
      sql<EventRow[]>`(select json_agg(event) from (
        select e.id, e.low_level, e.status_detail, e.created_at from order_events e
        where e.team_id = ${team_id} and e.order_id = orders.id order by e.id) event)`.as('events'),
      sql<Sibling[] | null>`case when exists (
        select 1 from orders other where other.team_id = ${team_id} and other.transaction_id = orders.transaction_id and other.id <> orders.id)
        then (select json_agg(sibling) from (
          select ${sql.join(siblingFields.map((field) => sql.ref(`s.${field}`)))} from orders s
          where s.team_id = ${team_id} and s.transaction_id = orders.transaction_id order by s.created_at, s.id) sibling) end`.as(
        'siblings',
      ),
      sql<LoadedRow['appointment']>`(select row_to_json(appointment) from (
        select a.id, a.status, a.type, a.start_at, a.end_at from appointments a
        where a.team_id = ${team_id} and a.order_id = orders.id order by a.created_at desc, a.id limit 1) appointment)`.as('appointment'),
    ])
    .$castTo<Found<ShownRow>>()

/** Orders with all that a change of them needs. */
const loadedFrom = (orders: OrderSource, team_id: string) =>
  shownFrom(orders, team_id)
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
    .select(otherColumns.map((column) => `orders.${column}` as const))
    .select('patient.client_user_id')
    .$castTo<Found<LoadedRow>>()

/** Completes a row that no other read has. A copy of so many fields would take longer. */
export const completeRow = <R extends ShownRow>(row: Found<R>) => Object.assign(row, fieldsFromJson(row)) as unknown as R

/** Concurrent hot reads share a row. */
const completeCopy = <R extends ShownRow>(row: Found<R>) => completeRow<R>({ ...row })

function fieldsFromJson<R extends ShownRow>(row: Found<R>) {
  const { events, siblings, appointment } = row
  const time = <T extends string | null>(text: T) => (text === null ? text : instantOf(text))
  return {
    events: events.map((event) => ({ ...event, created_at: instantOf(event.created_at) })),
    siblings: siblings?.map((sibling) => ({
      ...sibling,
      last_event_at: time(sibling.last_event_at),
      created_at: instantOf(sibling.created_at),
      updated_at: instantOf(sibling.updated_at),
    })) ?? [siblingOf(row)],
    appointment: appointment && { ...appointment, start_at: time(appointment.start_at), end_at: time(appointment.end_at) },
  }
}

const siblingOf = ({
  id,
  method,
  low_level,
  last_event_at,
  origin,
  parent_id,
  created_at,
  updated_at,
  transaction_id,
}: Sibling): Sibling => ({
  ...{ id, method, low_level, last_event_at, origin, parent_id, created_at, updated_at, transaction_id },
})

const ofTeam = (db: Db, team_id: string) => db.selectFrom('orders').where('orders.team_id', '=', team_id)

/** PostgreSQL plans an array in every call, because it depends on the number of its elements. */
const oneOrder = prepareRead('find_order', (db, team_id: string, id: string) =>
  loadedFrom(ofTeam(db, team_id).where('orders.id', '=', id), team_id),
)

const manyOrders = prepareSearch('find_orders_by_id', (db, team_id: string, ids: string[]) =>
  loadedFrom(ofTeam(db, team_id).where('orders.id', '=', sql<string>`any(${ids}::uuid[])`), team_id).orderBy(
    sql`array_position(${ids}::uuid[], orders.id)`,
  ),
)

const shownOrder = prepareRead('read_order', (db, team_id: string, id: string) =>
  shownFrom(ofTeam(db, team_id).where('orders.id', '=', id), team_id),
)

/** No row if there is no such order. */
export const findOrder = async (db: Db, team_id: string, id: string) => (await oneOrder(db, team_id, id)).map(completeCopy<LoadedRow>)

/** An order as a response shows it. No row if there is no such order. */
export const findShown = async (db: Db, team_id: string, id: string) => (await shownOrder(db, team_id, id)).map(completeCopy<ShownRow>)

export const findUserOf = (db: Db, team_id: string, id: string) =>
  db.selectFrom('orders').select('user_id').where('team_id', '=', team_id).where('id', '=', id).executeTakeFirst()

/** Finds orders, in the order of the IDs. */
export const findOrders = async (db: Db, team_id: string, ids: string[]) => (await manyOrders(db, team_id, ids)).map(completeRow<LoadedRow>)

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
export const lockOrders = prepareSearch('lock_orders', ordersToLock)

/** Locks the orders that no other transaction holds. */
export const lockFreeOrders = prepareSearch('lock_free_orders', (db, team_id: string, ids: string[]) =>
  ordersToLock(db, team_id, ids).skipLocked(),
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

/** Deletes every order of the team with its images; returns how many orders there were. */
export const deleteOrdersOf = async (db: Db, team_id: string) =>
  Number((await db.deleteFrom('orders').where('team_id', '=', team_id).executeTakeFirst()).numDeletedRows)

/** Deletes the order events of orders that no longer exist. */
export const deleteOrphanedEvents = (db: Db, team_id: string) =>
  sql`
    delete from order_events e where e.team_id = ${team_id}
      and not exists (select from orders o where o.team_id = ${team_id} and o.id = e.order_id)`.execute(db)

/** Detaches the orders of erased users and deletes the personal data in them; returns the IDs of the orders. */
export async function forgetPatients(db: Db, team_id: string, user_ids: string[]) {
  const { rows } = await sql<{ order_ids: string[] }>`select forget_patients(${team_id}, ${user_ids}) as order_ids`.execute(db)
  return rows[0]?.order_ids ?? []
}
