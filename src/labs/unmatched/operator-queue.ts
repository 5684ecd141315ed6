import { type App, inTransaction } from '../../platform/app.ts'
import type { Db } from '../../platform/db/open.ts'
import { isRankedInstant, type PageQuery, pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { listAllTeams } from '../../tenants/teams/actions.ts'
import { listHolders } from '../catalog/accounts/actions.ts'
import { findNumberedOrder } from '../orders/samples.ts'
import { restoredResults } from './documents.ts'
import { queueForTeam } from './queue.ts'
import * as store from './store.ts'
import { openSummary, openUnassigned, openUnassignedPdfs } from './unassigned-documents.ts'

const MAX_LISTED = 1000

/** Results whose lab account belongs to no team or to several: critical results first, then the oldest. */
export const listUnassignedResults = (app: App) => store.listUnassigned(app.db, { limit: MAX_LISTED })

type Team = { id: string; name: string }

/** A page of them with the lab account and the order number of each, and the teams that it may belong to. */
export async function describeUnassignedResults(app: App, query: PageQuery) {
  const page = pageAfter(query.next_cursor, query.limit, isRankedInstant)
  const found = await store.listUnassignedWithSummary(app.db, page)
  const { rows, next_cursor } = pageOf(found, page, ({ rank, created_at, id }) => ({ at: `${rank}${created_at}`, id }))
  const teams = await listAllTeams(app)
  const results = []
  for (const row of rows) results.push(await describe(app, row, teams))
  return { results, next_cursor, teams: teams.map(({ id, name }) => ({ team_id: id, name })) }
}

type Row = Awaited<ReturnType<typeof store.listUnassignedWithSummary>>[number]

async function describe(app: App, { summary_sealed, message_ref, lab_id, lab_name, lab, ...row }: Row, teams: Team[]) {
  const { account, number, numbers } = openSummary(app, row.id, summary_sealed)
  const holders = await listHolders(app, lab_id, account)
  const order = numbers.length ? await findNumberedOrder(app, lab_id, numbers) : undefined
  const reasonsFor = (id: string) => [
    ...(holders.includes(id) ? (['holds_account'] as const) : []),
    ...(order?.team_id === id ? (['placed_order'] as const) : []),
  ]
  return {
    ...row,
    lab: { id: lab_id, name: lab_name, slug: lab },
    message_control_id: message_ref,
    account,
    order_number: number,
    teams: teams.map(({ id, name }) => ({ team_id: id, name, reasons: reasonsFor(id) })).filter(({ reasons }) => reasons.length),
  }
}

/** Moves a result from the operator's queue to that of a team, where a person accepts or rejects it. */
export const assignUnassignedResult = (app: App, id: string, team_id: string) =>
  inTransaction(app, async (app) => {
    const row = await store.lockUnassigned(app.db, id)
    if (!row || row.assigned_at)
      throw problem(
        'UNASSIGNED_RESULT_NOT_FOUND',
        'There is no open result with this ID. List them in the console or with: assay unmatched-results list',
      )
    if (!(await listAllTeams(app)).some((team) => team.id === team_id))
      throw problem('TEAM_NOT_FOUND', 'No team has this ID. List teams in the console or with: assay team')
    const { received, ...unmatched } = openUnassigned(app, id, row.sealed)
    const restored = await restoredResults(
      received,
      await openUnassignedPdfs(app, id, await store.readUnassigned(app.db, id, 'documents_sealed')),
    )
    const queued = await queueForTeam(app, team_id, { ...unmatched, received: restored, message_ref: row.message_ref })
    await store.markAssigned(app.db, id, team_id, app.wall())
    return { id, team_id, raw_result_id: queued }
  })

/** The results of all queues that nobody has reviewed, by interpretation. */
export const countPending = (db: Db) => store.countPending(db)
