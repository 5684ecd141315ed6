import type { z } from 'zod'
import type { OrderFilter } from '../../../contract/labs/orders.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { shaped } from '../../../platform/results/shaped.ts'
import { queryTerms } from '../../../platform/sealing/blind-index.ts'
import { teamSealingKey, unwrap } from '../../../platform/sealing/vault.ts'
import { requireUser } from '../../../tenants/users/actions.ts'
import { decryptDocument } from '../encrypted-document.ts'
import { findOrders } from '../store.ts'
import { loadPage, loadShown, presentOrder } from './present.ts'
import * as store from './store-list.ts'
import { MAX_COUNTED_ORDERS } from './store-list.ts'

type Query = z.output<typeof OrderFilter>

export const getOrder = async (app: App, { team_id }: TeamCaller, id: string) =>
  shaped(presentOrder(app, await loadShown(app, team_id, id)))

export async function listOrders(app: App, caller: TeamCaller, query: Query) {
  const filter = await filterOf(app, caller, query)
  const find = query.order_key === 'patient_name' ? findPageByName : findPage
  const [{ found, orders }] = await Promise.all([
    find(app, caller, query, filter),
    query.user_id ? requireUser(app, caller.team_id, query.user_id) : undefined,
  ])
  const { page, size } = query
  const rest = { total: Math.min(found, MAX_COUNTED_ORDERS), total_is_lower_bound: found > MAX_COUNTED_ORDERS, page, size }
  return shaped({ orders: orders.map((order) => presentOrder(app, order)), ...rest })
}

const offsetOf = ({ page, size }: Query) => (page - 1) * size

/** Counts while it reads the page. An order that was placed in between counts too. */
async function findPage(app: App, { team_id }: TeamCaller, query: Query, filter: store.ListFilter) {
  const sort = {
    key: query.order_key === 'last_status' ? query.order_key : 'created_at',
    direction: query.order_direction ?? 'desc',
  } as const
  const offset = offsetOf(query)
  const [found, orders] = await Promise.all([
    store.countMatching(app.db, team_id, filter),
    loadPage(app, team_id, store.findPage(app.db, team_id, filter, sort, { limit: query.size, offset })),
  ])
  return { found: orders.length ? Math.max(found, offset + orders.length) : found, orders }
}

async function findPageByName(app: App, caller: TeamCaller, query: Query, filter: store.ListFilter) {
  const { team_id } = caller
  const found = await store.countMatching(app.db, team_id, filter)
  const sorted = await sortIdsByName(app, caller, filter, query.order_direction ?? 'asc', found)
  const offset = offsetOf(query)
  const ids = sorted.slice(offset, offset + query.size)
  return { found, orders: ids.length ? await loadPage(app, team_id, findOrders(app.db, team_id, ids)) : [] }
}

/** Names are encrypted, so sorting decrypts every match. */
async function sortIdsByName(app: App, { team_id }: TeamCaller, filter: store.ListFilter, direction: 'asc' | 'desc', found: number) {
  if (found > MAX_COUNTED_ORDERS)
    throw problem(
      'TOO_MANY_TO_SORT',
      `More than ${MAX_COUNTED_ORDERS} orders match, which is the limit for sorting by patient_name. Narrow the filter, for example by date.`,
    )
  const teamKey = await teamSealingKey(app, team_id)
  const entries = (await store.listEncryptedDocuments(app.db, team_id, filter)).map(
    ({ id, user_id, sealed, created_at, key_id, wrapped_key }) => {
      const key = unwrap(teamKey, { team_id, user_id: user_id as string }, { id: key_id, wrapped: wrapped_key })
      const { last_name, first_name } = decryptDocument(key, id, sealed as Buffer).patient_details ?? noName
      return { id, created_at, last_name: last_name.toLowerCase(), first_name: first_name.toLowerCase() }
    },
  )
  const { compare } = new Intl.Collator('en')
  const sign = direction === 'asc' ? 1 : -1
  entries.sort(
    (a, b) =>
      sign * (compare(a.last_name, b.last_name) || compare(a.first_name, b.first_name)) ||
      b.created_at.localeCompare(a.created_at) ||
      a.id.localeCompare(b.id),
  )
  return entries.map(({ id }) => id)
}

/** An unregistered kit has no patient and sorts like an empty name. */
const noName = { first_name: '', last_name: '' }

async function filterOf(app: App, { team_id }: TeamCaller, query: Query): Promise<store.ListFilter> {
  const team = await teamSealingKey(app, team_id)
  const terms = (text: string | null | undefined, field: string) => (text ? orNoMatch(queryTerms(team, text, field)) : undefined)
  const { search_input: search, order_activation_types: activation } = query
  const nonEmpty = <T>(list: T[] | null | undefined) => (list?.length ? list : undefined)
  return {
    search: search
      ? { patient: queryTerms(team, search, 'patient'), recipient: queryTerms(team, search, 'recipient'), prefix: likePrefix(search) }
      : undefined,
    patient: terms(query.patient_name, 'patient'),
    recipient: terms(query.shipping_recipient_name, 'recipient'),
    created_from: query.start_date ? firstMoment(query.start_date) : undefined,
    created_to: query.end_date ? lastMoment(query.end_date) : undefined,
    updated_from: query.updated_start_date ? firstMoment(query.updated_start_date) : undefined,
    updated_to: query.updated_end_date ? lastMoment(query.updated_end_date) : undefined,
    ...statusFilter(nonEmpty(query.status)),
    methods: nonEmpty(query.order_type),
    critical: query.is_critical ?? undefined,
    interpretation: query.interpretation ?? undefined,
    scheduled: new Set(activation).size === 1 ? { after: app.now().slice(0, 10), is: activation?.[0] === 'scheduled' } : undefined,
    user_id: query.user_id ?? undefined,
    order_ids: nonEmpty(query.order_ids),
    transaction_id: query.order_transaction_id ?? undefined,
  }
}

const statusFilter = (statuses: string[] | undefined) => (statuses?.length === 1 ? { low_level: statuses[0] } : { low_levels: statuses })

/** A text without a searchable word matches nothing instead of everything. */
const orNoMatch = (terms: string[]) => (terms.length ? terms : ['\u0001'])

/** A blank text matches nothing. */
const likePrefix = (text: string) => text.trim().replace(/[\\%_]/g, '\\$&') || '\u0001'

const isDay = (text: string) => text.length === 10
const firstMoment = (text: string) => (isDay(text) ? `${text}T00:00:00.000Z` : text)
const lastMoment = (text: string) => (isDay(text) ? `${text}T23:59:59.999Z` : text)
