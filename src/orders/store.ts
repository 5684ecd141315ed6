import { CompiledQuery, type Insertable, type Selectable, sql } from 'kysely'
import { type Db, prepared } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export type OrderRow = Omit<Selectable<Tables['orders']>, 'terms' | 'changed_at'>
export type EventRow = { id: number; low_level: string; status_detail: string | null; created_at: string }
/** An order as its transaction lists it. */
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

/** Orders whose user is there, with the user's wrapped key and their events. */
export const loadedOrders = (db: Db) =>
  db
    .selectFrom('orders')
    .innerJoin('users', 'users.user_id', 'orders.user_id')
    .innerJoin('sealing_keys', 'sealing_keys.user_id', 'orders.user_id')
    .selectAll('orders')
    .select(['users.client_user_id', 'sealing_keys.id as key_id', 'sealing_keys.wrapped as wrapped_key'])
    .select(
      sql<EventRow[]>`(select json_agg(json_build_object('id', e.id, 'low_level', e.low_level, 'status_detail', e.status_detail,
        'created_at', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by e.id)
        from order_events e where e.order_id = orders.id)`.as('events'),
    )

export const findOrder = (db: Db, team_id: string, id: string) =>
  loadedOrders(db).where('orders.team_id', '=', team_id).where('orders.id', '=', id).$castTo<LoadedRow>().executeTakeFirst()

/** In the order of the ids. */
export const findOrders = (db: Db, team_id: string, ids: string[]) =>
  loadedOrders(db)
    .where('orders.team_id', '=', team_id)
    .where('orders.id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy(sql`array_position(${ids}::uuid[], orders.id)`)
    .$castTo<LoadedRow>()
    .execute()

export const findByTransaction = (db: Db, team_id: string, transaction_id: string) =>
  loadedOrders(db)
    .where('orders.team_id', '=', team_id)
    .where('orders.transaction_id', '=', transaction_id)
    .orderBy('orders.created_at')
    .orderBy('orders.id')
    .$castTo<LoadedRow>()
    .execute()

/** Locks the order until the transaction ends. What it looks like is read afterwards: a lock that waited reads old events. */
export const lockOrders = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('orders')
    .select(['id', 'dispatch_at', 'step_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()

/** The same of one order, unless somebody else has it in hand. */
export const tryLockOrder = (db: Db, team_id: string, id: string) =>
  db
    .selectFrom('orders')
    .select(['dispatch_at', 'step_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const siblings = (db: Db, team_id: string, transaction_ids: string[]) =>
  db
    .selectFrom('orders')
    .select(siblingColumns)
    .where('team_id', '=', team_id)
    .where('transaction_id', '=', sql<string>`any(${transaction_ids}::uuid[])`)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Another lab may have given the same number to something that is no kit. */
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

const columns = [
  'id',
  'team_id',
  'user_id',
  'transaction_id',
  'parent_id',
  'origin',
  'lab_id',
  'lab_test_id',
  'lab_account_id',
  'method',
  'low_level',
  'last_event',
  'last_event_at',
  'created_at',
  'updated_at',
  'registrable',
  'zone',
  'activate_by',
  'scheduled',
  'dispatch_at',
  'sent_at',
  'step_at',
  'simulation',
  'seed',
  'sample_id',
  'billing_type',
  'priority',
  'has_abn',
  'health_insurance_id',
  'collected_at',
  'expected_result_by_date',
  'worst_case_result_by_date',
  'interpretation',
  'has_missing_results',
  'result_version',
  'sealed',
  'terms',
] as const satisfies (keyof Tables['orders'])[]

type NewRow = {
  [C in (typeof columns)[number]]: C extends 'terms' ? string[] : C extends 'simulation' ? string | null : OrderRow[C & keyof OrderRow]
}

type NewEvent = { id: string; event_type: string; key: string; partial: boolean; sealed: Buffer }
type Info = { sealed: Buffer; terms: string[] }

type Audit = Omit<Insertable<Tables['audit_log']>, 'chain_seq' | 'chain_hash'>
type Kept = { team_id: string; operation: string; key_hash: Buffer; owner: string; status: number; sealed: Buffer; user_id: string | null }
type Along = { audit: Audit; kept?: Kept | undefined }

/** Everything that placing an order writes. */
export type Placing = { row: NewRow; event: NewEvent; info?: Info | undefined; along?: Along | undefined }

const at = (i: number) => `$${i + 1}`
const auditColumns = ['id', 'at', 'org_id', 'team_id', 'actor_kind', 'actor_id', 'action', 'subject', 'status', 'request_id'] as const
const ORDER = columns.length
const place = (column: (typeof columns)[number]) => at(columns.indexOf(column))
/** Where the parameters of the event, the demographics, the audit row and the outcome begin. */
const EVENT = ORDER
const INFO = EVENT + 4
const AUDIT = INFO + 2
const KEPT = AUDIT + auditColumns.length

const insertOrder = `
with placed as (insert into orders (${columns.join(', ')}) values (${columns.map((_, i) => at(i)).join(', ')})),
first as (insert into order_events (order_id, id, low_level, created_at)
  values (${place('id')}, ${place('last_event')}, ${place('low_level')}, ${place('last_event_at')}))`

const insertInfo = `,
info as (insert into user_info (user_id, team_id, sealed, terms, updated_at)
  select ${place('user_id')}, ${place('team_id')}, ${at(INFO)}::bytea, ${at(INFO + 1)}::text[], ${place('created_at')}
  where ${at(INFO)}::bytea is not null
  on conflict (user_id) do update set sealed = excluded.sealed, terms = excluded.terms, updated_at = excluded.updated_at)`

const insertAudit = `,
audited as (insert into audit_log (${auditColumns.join(', ')}) values (${auditColumns.map((_, i) => at(AUDIT + i)).join(', ')}))`

const tell = `
select emit(${at(EVENT)}, ${place('team_id')}, ${place('user_id')}, ${place('id')}, ${at(EVENT + 1)}, ${at(EVENT + 2)}, ${at(EVENT + 3)},
  ${place('created_at')}, false) as told`

const keep = `, keep_outcome(${['uuid', 'text', 'bytea', 'uuid', 'smallint', 'bytea', 'uuid'].map((type, i) => `${at(KEPT + i)}::${type}`).join(', ')})`

/** What the parameters are of an order that is placed along with its audit row, for whoever measures the statement by itself. */
export const placeParameters = [
  ...columns,
  ...['id', 'event_type', 'key', 'sealed'].map((column) => `event.${column}`),
  ...['sealed', 'terms'].map((column) => `info.${column}`),
  ...auditColumns.map((column) => `audit.${column}`),
]

/** The hot write: one round trip, prepared once for each connection. */
const placeAlone = prepared('place_order', insertOrder + insertInfo + tell)
export const placeAlong = prepared('place_order_along', insertOrder + insertInfo + insertAudit + tell)
const placeKept = prepared('place_order_kept', insertOrder + insertInfo + insertAudit + tell + keep)

/** Writes the order, its first event, the demographics, the log entry and what the request commits along, in one statement. */
export function insertPlaced(db: Db, { row, event, info, along }: Placing) {
  const values: unknown[] = columns.map((column) => row[column])
  values.push(event.id, event.event_type, event.key, event.sealed, info?.sealed ?? null, info?.terms ?? null)
  if (along) values.push(...auditColumns.map((column) => along.audit[column]))
  const kept = along?.kept
  if (kept) values.push(kept.team_id, kept.operation, kept.key_hash, kept.owner, kept.status, kept.sealed, kept.user_id)
  const text = kept ? placeKept : along ? placeAlong : placeAlone
  return toldBy(db, text, values)
}

const LOST_TURN = 'AS001'

export const isLostTurn = (error: unknown) => (error as { code?: string }).code === LOST_TURN

const mutable = [
  'user_id',
  'low_level',
  'last_event',
  'last_event_at',
  'updated_at',
  'zone',
  'activate_by',
  'dispatch_at',
  'sent_at',
  'step_at',
  'simulation',
  'sample_id',
  'has_abn',
  'health_insurance_id',
  'collected_at',
  'expected_result_by_date',
  'worst_case_result_by_date',
  'interpretation',
  'has_missing_results',
  'result_version',
  'sealed',
] as const satisfies (keyof Tables['orders'])[]

const M = mutable.length + 1

const changeOrder = `
with changed as (update orders set changed_at = date_trunc('milliseconds', now()), ${mutable.map((column, i) => `${column} = ${at(i + 1)}`).join(', ')} where id = $1)`
const appendEvent = `,
event as (insert into order_events (order_id, id, low_level, status_detail, created_at)
  values ($1, ${at(mutable.indexOf('last_event') + 1)}, ${at(mutable.indexOf('low_level') + 1)}, ${at(M + 7)}, ${at(mutable.indexOf('last_event_at') + 1)}))`
const tellChange = `
select emit(${at(M)}, ${at(M + 1)}, ${at(mutable.indexOf('user_id') + 1)}, $1, ${at(M + 2)}, ${at(M + 3)}, ${at(M + 4)}, ${at(M + 5)}, ${at(M + 6)}) as told`

const advance = prepared('advance_order', changeOrder + appendEvent + tellChange)
const change = prepared('change_order', changeOrder + tellChange)

/** A change of a locked order and the log entry that tells of it, with the step it took if it took one. */
export function updateOrder(db: Db, row: OrderRow, event: NewEvent & { at: string }, step?: { status_detail: string | null }) {
  const values: unknown[] = [row.id, ...mutable.map((column) => (column === 'simulation' ? json(row.simulation) : row[column]))]
  values.push(event.id, row.team_id, event.event_type, event.key, event.sealed, event.at, event.partial)
  if (step) values.push(step.status_detail)
  return toldBy(db, step ? advance : change, values)
}

/** The webhooks that a statement has something for. */
async function toldBy(db: Db, text: string, values: unknown[]) {
  const { rows } = await db.executeQuery<{ told: string[] }>(CompiledQuery.raw(text, values))
  return rows[0]?.told ?? []
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** What the simulator does next; nobody is told. */
export const setQuietly = (db: Db, id: string, change: { step_at: string | null; simulation: string | null }) =>
  db.updateTable('orders').set(change).where('id', '=', id).execute()

/** The order is at the disposal of a lab that answers later; it is new among those that the lab lists. */
export const setSent = (db: Db, id: string, updated_at: string) =>
  db
    .updateTable('orders')
    .set({ dispatch_at: null, sent_at: updated_at, updated_at, changed_at: sql`date_trunc('milliseconds', now())` })
    .where('id', '=', id)
    .execute()

export const setTerms = (db: Db, id: string, terms: string[]) => db.updateTable('orders').set({ terms }).where('id', '=', id).execute()

export const insertImages = (db: Db, rows: Insertable<Tables['order_images']>[]) => db.insertInto('order_images').values(rows).execute()

const moment = (wall: string) => sql`${wall}::timestamptz + teams.clock_offset_ms * interval '1 millisecond'`

/** The latest moment on any team's clock: nothing is due beyond it, so what is held for later is not even looked at. */
const latestMoment = (wall: string) =>
  sql<string>`(select ${wall}::timestamptz + max(clock_offset_ms) * interval '1 millisecond' from teams)`

/** Orders that go to the lab by now, on their team's clock. */
type Looking = { limit: number; team_id?: string | undefined; except: string[] }

export const dueDispatches = (db: Db, wall: string, { limit, team_id, except }: Looking) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select(['orders.id', 'orders.team_id', 'orders.dispatch_at as at', 'teams.clock_offset_ms'])
    .where('orders.dispatch_at', '<=', latestMoment(wall))
    .where(sql<boolean>`orders.dispatch_at <= ${moment(wall)} and orders.id <> all(${except}::uuid[])`)
    .$if(team_id !== undefined, (query) => query.where('orders.team_id', '=', team_id as string))
    .orderBy('orders.dispatch_at')
    .orderBy('orders.created_at')
    .orderBy('orders.id')
    .limit(limit)
    .execute()

const steps = (db: Db, wall: string, { limit, team_id, except }: Looking) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select(['orders.id', 'orders.team_id', 'orders.step_at as at', 'teams.clock_offset_ms', 'orders.created_at'])
    .where(sql<boolean>`orders.step_at <= ${moment(wall)} and orders.id <> all(${except}::uuid[])`)
    .$if(team_id !== undefined, (query) => query.where('orders.team_id', '=', team_id as string))
    .orderBy('orders.step_at')
    .orderBy('orders.created_at')
    .orderBy('orders.id')
    .limit(limit)

/**
 * Orders whose simulator takes a step by now: all of a team whose simulator runs by itself, and those that simulate asked for.
 * Apart, so that the many that rest in other teams are not looked at.
 */
export function dueSteps(db: Db, wall: string, looking: Looking) {
  const all = steps(db, wall, looking)
  const byItself = all.where('teams.simulator', '=', 'auto')
  const askedFor = all.where('teams.simulator', '<>', 'auto').where('orders.simulation', 'is not', null)
  const either = db
    .selectFrom(byItself.as('one'))
    .selectAll()
    .unionAll(db.selectFrom(askedFor.as('other')).selectAll())
  return db
    .selectFrom(either.as('due'))
    .select(['id', 'team_id', 'at', 'clock_offset_ms'])
    .orderBy('at')
    .orderBy('created_at')
    .orderBy('id')
    .limit(looking.limit)
    .execute()
}

/** On the team's clock: no order goes before it was placed. */
export const nextDispatch = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .select((eb) => eb.fn.min(sql<string>`greatest(dispatch_at, created_at)`).as('at'))
    .where('team_id', '=', team_id)
    .where('dispatch_at', 'is not', null)
    .executeTakeFirst()

export const nextStep = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select('step_at as at')
    .where('orders.team_id', '=', team_id)
    .where('step_at', 'is not', null)
    .where((eb) => eb.or([eb('teams.simulator', '=', 'auto'), eb('orders.simulation', 'is not', null)]))
    .orderBy('step_at')
    .limit(1)
    .executeTakeFirst()

type Which = { order_ids?: string[] | null | undefined; start_at?: string | null | undefined; end_at?: string | null | undefined }

/** Orders that were named, or that changed within a window. */
export const listChanged = (db: Db, team_id: string, { order_ids, start_at, end_at }: Which, limit: number) =>
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
