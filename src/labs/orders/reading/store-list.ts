import { sql } from 'kysely'
import { type Db, prepareFirstPages, prepareSearch } from '../../../platform/db/open.ts'
import { completeRow, type OrderSource, type ShownRow, shownColumns, shownFrom } from '../store.ts'

/** `search`, `patient` and `recipient` hold blind-index terms, not plain names. */
export type ListFilter = {
  search?: { patient: string[]; recipient: string[]; prefix: string } | undefined
  patient?: string[] | undefined
  recipient?: string[] | undefined
  created_from?: string | undefined
  created_to?: string | undefined
  updated_from?: string | undefined
  updated_to?: string | undefined
  low_level?: string | undefined
  low_levels?: string[] | undefined
  methods?: string[] | undefined
  critical?: boolean | undefined
  interpretation?: string | undefined
  /** Whether activate_by is after this day. */
  scheduled?: { after: string; is: boolean } | undefined
  user_id?: string | undefined
  order_ids?: string[] | undefined
  transaction_id?: string | undefined
}

type ListSort = { key: 'created_at' | 'last_status'; direction: 'asc' | 'desc' }

const matchingOrders = (db: Db, team_id: string, filter: ListFilter): OrderSource => {
  let query: OrderSource = db.selectFrom('orders').where('team_id', '=', team_id).where('user_id', 'is not', null)
  const { search, patient, recipient, low_levels, methods, critical, interpretation, scheduled } = filter
  if (filter.user_id) query = query.where('user_id', '=', filter.user_id)
  if (filter.transaction_id) query = query.where('transaction_id', '=', filter.transaction_id)
  if (filter.order_ids) query = query.where('id', '=', sql<string>`any(${filter.order_ids}::uuid[])`)
  if (filter.created_from) query = query.where('created_at', '>=', filter.created_from)
  if (filter.created_to) query = query.where('created_at', '<=', filter.created_to)
  if (filter.updated_from) query = query.where('updated_at', '>=', filter.updated_from)
  if (filter.updated_to) query = query.where('updated_at', '<=', filter.updated_to)
  if (filter.low_level) query = query.where(sql<boolean>`low_level between ${filter.low_level} and ${filter.low_level}`)
  if (low_levels) query = query.where('low_level', '=', sql<string>`any(${low_levels}::text[])`)
  if (methods) query = query.where('method', '=', sql<'testkit'>`any(${methods}::text[])`)
  if (interpretation) query = query.where('interpretation', '=', interpretation)
  if (critical !== undefined)
    query = critical ? query.where('interpretation', '=', 'critical') : query.where('interpretation', 'is distinct from', 'critical')
  if (scheduled) query = query.where(sql<boolean>`coalesce(activate_by > ${scheduled.after}::date, false) = ${scheduled.is}`)
  if (patient) query = query.where(hasTerms(patient))
  if (recipient) query = query.where(hasTerms(recipient))
  if (search)
    query = query.where((eb) =>
      eb.or([
        ...(search.patient.length ? [hasTerms(search.patient), hasTerms(search.recipient)] : []),
        eb(sql`id::text`, 'like', `${search.prefix.toLowerCase()}%`),
        eb(sql`user_id::text`, 'like', `${search.prefix.toLowerCase()}%`),
        eb(sql`upper(sample_id)`, 'like', `${search.prefix.toUpperCase()}%`),
      ]),
    )
  return query
}

const hasTerms = (terms: string[]) => sql<boolean>`terms @> ${terms}::text[]`

/** Orders are counted up to one more than this. Beyond it, `total` is a lower bound and sorting by name is rejected. */
export const MAX_COUNTED_ORDERS = 10_000

/** Without a column, the indexes by user and by status answer the count alone. */
const counted = (db: Db, team_id: string, filter: ListFilter) =>
  matchingOrders(db, team_id, filter)
    .select(sql<number>`1`.as('one'))
    .limit(sql.lit(MAX_COUNTED_ORDERS + 1))

const countQuery = (db: Db, team_id: string, filter: ListFilter) =>
  db.selectFrom(counted(db, team_id, filter).as('found')).select((eb) => eb.fn.countAll<number>().as('count'))

const countOfTeam = prepareSearch('count_orders', (db, team_id: string) => countQuery(db, team_id, {}))
const countOfUser = prepareSearch('count_orders_of_user', (db, team_id: string, user_id: string) => countQuery(db, team_id, { user_id }))
const countOfStatus = prepareSearch('count_orders_of_status', (db, team_id: string, low_level: string) =>
  countQuery(db, team_id, { low_level }),
)

/** The number of matching orders, counted up to one more than the limit. */
export async function countMatching(db: Db, team_id: string, filter: ListFilter) {
  const prepared = onlyOf(filter, {
    none: () => countOfTeam(db, team_id),
    user_id: (user_id) => countOfUser(db, team_id, user_id),
    low_level: (low_level) => countOfStatus(db, team_id, low_level),
  })
  const [found] = await (prepared ?? countQuery(db, team_id, filter).execute())
  return found?.count ?? 0
}

type Only<R> = { none(): R; user_id(id: string): R; low_level(step: string): R }

/** Chooses by the only filter, if it is one of the frequent ones. */
function onlyOf<R>(filter: ListFilter, { none, user_id, low_level }: Only<R>): R | undefined {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined)
  if (!set.length) return none()
  if (set.length > 1) return undefined
  if (filter.user_id) return user_id(filter.user_id)
  return filter.low_level ? low_level(filter.low_level) : undefined
}

type ListPage = { limit: number; offset: number }

/**
 * Within one status, only its index has the order of the status and the time, so no plan reads all orders to find a few of the
 * status. In the index, the status ascends and the time descends.
 */
function columnsOf({ low_level }: ListFilter, { key, direction }: ListSort) {
  const columns = [['created_at', direction] as const, ['id', direction] as const]
  if (low_level) return [['low_level', direction === 'asc' ? 'desc' : 'asc'] as const, ...columns]
  return key === 'last_status' ? [['low_level', direction] as const, ...columns] : columns
}

/** The limits are part of the text, see `prepareFirstPages`. */
function pageQuery(db: Db, team_id: string, filter: ListFilter, sort: ListSort, { limit, offset }: ListPage) {
  const columns = columnsOf(filter, sort)
  const sorted = (query: OrderSource) =>
    columns.reduce<OrderSource>((query, [column, direction]) => query.orderBy(`orders.${column}`, direction), query)
  const page = sorted(matchingOrders(db, team_id, filter))
    .select(shownColumns)
    .limit(sql.lit(limit))
    .offset(sql.lit(offset))
    .as('orders')
  // A page has the columns that are read from it, and the order is no column.
  return sorted(shownFrom(db.selectFrom(page) as unknown as OrderSource, team_id) as unknown as OrderSource) as unknown as ShownQuery
}

type ShownQuery = ReturnType<typeof shownFrom>

const newestFirst: ListSort = { key: 'created_at', direction: 'desc' }

const firstPage = (limit: number) => ({ limit, offset: 0 })

/** Other filters need a plan for their values. */
const firstOfTeam = prepareFirstPages(
  'list_orders',
  (limit) => (db, team_id: string) => pageQuery(db, team_id, {}, newestFirst, firstPage(limit)),
)
const firstOfUser = prepareFirstPages(
  'list_orders_of_user',
  (limit) => (db, team_id: string, user_id: string) => pageQuery(db, team_id, { user_id }, newestFirst, firstPage(limit)),
)
const firstOfStatus = prepareFirstPages(
  'list_orders_of_status',
  (limit) => (db, team_id: string, low_level: string) => pageQuery(db, team_id, { low_level }, newestFirst, firstPage(limit)),
)

function findFirstPage(db: Db, team_id: string, filter: ListFilter, { key, direction }: ListSort, { limit, offset }: ListPage) {
  if (offset || key !== newestFirst.key || direction !== newestFirst.direction) return undefined
  return onlyOf(filter, {
    none: () => firstOfTeam.get(limit)?.(db, team_id),
    user_id: (user_id) => firstOfUser.get(limit)?.(db, team_id, user_id),
    low_level: (low_level) => firstOfStatus.get(limit)?.(db, team_id, low_level),
  })
}

/** The orders of a page. */
export async function findPage(db: Db, team_id: string, filter: ListFilter, sort: ListSort, page: ListPage) {
  const rows = await (findFirstPage(db, team_id, filter, sort, page) ?? pageQuery(db, team_id, filter, sort, page).execute())
  return rows.map(completeRow<ShownRow>)
}

/** The encrypted documents of every matching order. */
export const listEncryptedDocuments = (db: Db, team_id: string, filter: ListFilter) =>
  db
    .selectFrom(matchingOrders(db, team_id, filter).select(['id', 'user_id', 'sealed', 'created_at']).limit(MAX_COUNTED_ORDERS).as('found'))
    .innerJoin('sealing_keys', 'sealing_keys.user_id', 'found.user_id')
    .where('sealing_keys.team_id', '=', team_id)
    .select([
      'found.id',
      'found.user_id',
      'found.sealed',
      'found.created_at',
      'sealing_keys.id as key_id',
      'sealing_keys.wrapped as wrapped_key',
    ])
    .execute()

/** The latest orders with these search terms. */
export const findIdsByTerms = (db: Db, team_id: string, terms: string[], limit: number) =>
  db
    .selectFrom('orders')
    .select('id')
    .where('team_id', '=', team_id)
    .where('user_id', 'is not', null)
    .where(sql<boolean>`terms @> ${terms}::text[]`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
