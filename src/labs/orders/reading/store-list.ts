import { type SelectQueryBuilder, sql } from 'kysely'
import { type Db, prepareFirstPages } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

/** `search`, `patient` and `recipient` hold blind-index terms, not plain names. */
export type ListFilter = {
  search?: { patient: string[]; recipient: string[]; prefix: string } | undefined
  patient?: string[] | undefined
  recipient?: string[] | undefined
  created_from?: string | undefined
  created_to?: string | undefined
  updated_from?: string | undefined
  updated_to?: string | undefined
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

type OrderQuery = SelectQueryBuilder<Tables, 'orders', {}>

const matchingOrders = (db: Db, team_id: string, filter: ListFilter): OrderQuery => {
  let query: OrderQuery = db.selectFrom('orders').where('team_id', '=', team_id).where('user_id', 'is not', null)
  const { search, patient, recipient, low_levels, methods, critical, interpretation, scheduled } = filter
  if (filter.user_id) query = query.where('user_id', '=', filter.user_id)
  if (filter.transaction_id) query = query.where('transaction_id', '=', filter.transaction_id)
  if (filter.order_ids) query = query.where('id', '=', sql<string>`any(${filter.order_ids}::uuid[])`)
  if (filter.created_from) query = query.where('created_at', '>=', filter.created_from)
  if (filter.created_to) query = query.where('created_at', '<=', filter.created_to)
  if (filter.updated_from) query = query.where('updated_at', '>=', filter.updated_from)
  if (filter.updated_to) query = query.where('updated_at', '<=', filter.updated_to)
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

export const countMatching = async (db: Db, team_id: string, filter: ListFilter) => {
  const { count } = await db
    .selectFrom(counted(db, team_id, filter).as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

type ListPage = { limit: number; offset: number }
type FoundPage = { found: number; ids: string[] | null; test_ids: string[] | null }

/** The limits are part of the text, see `prepareFirstPages`. */
function pageQuery(db: Db, team_id: string, filter: ListFilter, { key, direction }: ListSort, { limit, offset }: ListPage) {
  const columns = [...(key === 'last_status' ? (['low_level'] as const) : []), 'created_at' as const, 'id' as const]
  const matching = matchingOrders(db, team_id, filter).select([...columns, 'lab_test_id'])
  const sorted = columns.reduce((query, column) => query.orderBy(column, direction), matching)
  const sort = sql.join(columns.map((column) => sql`${sql.ref(`sorted.${column}`)} ${sql.raw(direction)}`))
  return sql<FoundPage>`
    select counted.found, page.ids, page.test_ids
    from (select count(*)::int as found from (${counted(db, team_id, filter)}) matching) counted
    cross join (
      select array_agg(sorted.id order by ${sort}) as ids, array_agg(distinct sorted.lab_test_id) as test_ids
      from (${sorted.limit(sql.lit(limit)).offset(sql.lit(offset))}) sorted
    ) page`
}

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

function findFirstPage(
  db: Db,
  team_id: string,
  { user_id, ...filter }: ListFilter,
  { key, direction }: ListSort,
  { limit, offset }: ListPage,
) {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if (offset || isFiltered || key !== newestFirst.key || direction !== newestFirst.direction) return undefined
  return user_id === undefined ? firstOfTeam.get(limit)?.(db, team_id) : firstOfUser.get(limit)?.(db, team_id, user_id)
}

/** The IDs of a page and of its lab tests, and the number of matching orders, counted up to one more than the limit. */
export async function findPage(db: Db, team_id: string, filter: ListFilter, sort: ListSort, page: ListPage) {
  const prepared = findFirstPage(db, team_id, filter, sort, page)
  const [found] = prepared ? await prepared : (await pageQuery(db, team_id, filter, sort, page).execute(db)).rows
  return { found: found?.found ?? 0, ids: found?.ids ?? [], test_ids: found?.test_ids ?? [] }
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
