import type { EventName } from '../../../contract/events.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import { DAY } from '../../../platform/time.ts'
import { dayOf } from '../../time/rules.ts'
import { emitData } from '../emit.ts'
import type { IncomingPush } from '../incoming-push.ts'
import { isoOf } from '../rules-present.ts'
import { type BuiltItem, type Draft, summaryId } from './rules-summary.ts'
import { openSummary } from './save-summaries.ts'
import * as store from './store-summaries.ts'

export type Deletion = {
  resource: SummaryName
  external: string
  /** When the source deleted it, in milliseconds. */
  at: number
}

/** A session that is gone, with the period of its samples. */
export type DeletedSummary = { resource: SummaryName; period: { from: number; to: number } | undefined }

/** Deletes summaries that the source deleted, and emits their IDs. A summary that the source changed later stays. */
export const deleteSummaries = (app: App, push: IncomingPush, deletions: Deletion[]): Promise<DeletedSummary[]> =>
  inTransaction(app, async (app) => {
    const { user, provider } = push
    if (!deletions.length) return []
    const idOf = ({ resource, external }: Deletion) => summaryId(user.user_id, provider, resource, external)
    return deleteById(app, push, new Map(deletions.map((deletion) => [idOf(deletion), deletion.at])))
  })

/** Deletes summaries by their ID, unless they have a version after the time of the deletion. */
async function deleteById(app: AppInTransaction, push: IncomingPush, times: Map<string, number>): Promise<DeletedSummary[]> {
  const { user, key } = push
  const { team_id, user_id } = user
  const stored = await store.lockSummaries(app.db, team_id, [...times.keys()].sort())
  const gone = stored.filter((row) => row.version <= (times.get(row.id) as number))
  await store.insertDeletions(
    app.db,
    [...times].map(([id, at]) => ({ id, team_id, user_id, deleted_at: isoOf(at) })),
  )
  await removeRows(app, push, gone)
  return gone.map((row) => ({ resource: row.resource as SummaryName, period: periodOf(openSummary(key, row).fields) }))
}

async function removeRows(app: AppInTransaction, push: IncomingPush, rows: { id: string; resource: string }[]) {
  if (!rows.length) return
  const ids = rows.map(({ id }) => id)
  await store.deleteSummaries(app.db, push.user.team_id, ids)
  for (const [resource, found] of Map.groupBy(rows, (row) => row.resource))
    await emitData(app, push, resource, `daily.data.${resource}.deleted` as EventName, {
      provider: push.provider,
      ids: found.map(({ id }) => id),
    })
}

/** Deletes daily summaries that the source no longer has. One that it has again is accepted again. */
export const deleteDays = (
  app: App,
  push: IncomingPush,
  resource: SummaryName,
  first: string,
  last: string,
  isKept: (day: string) => boolean,
) =>
  inTransaction(app, async (app) => {
    const { team_id, user_id } = push.user
    const stored = await store.lockDays(app.db, { team_id, user_id, resource, provider: push.provider }, first, last)
    await removeRows(
      app,
      push,
      stored.filter(({ calendar_date }) => !isKept(calendar_date)),
    )
  })

type Period = { from: number; to: number }

/** Sessions of one search. */
const MAX_SESSIONS = 5000

/** Deletes the sessions within a period that the source no longer has. `kept` are the external IDs of those that it has. */
export const deleteSessions = (app: App, push: IncomingPush, resource: SummaryName, { from, to }: Period, kept: string[]) =>
  inTransaction(app, async (app) => {
    const { user, key, provider, received } = push
    const { team_id, user_id } = user
    const days = { from: dayOf(from - DAY), to: dayOf(to + DAY) }
    const find = (resource: SummaryName) => store.listSummaries(app.db, { team_id, user_id, resource, provider }, days, MAX_SESSIONS)
    const keptIds = new Set(kept.map((external) => summaryId(user_id, provider, resource, external)))
    const isWithin = (row: store.SummaryRow) => {
      const period = periodOf(openSummary(key, row).fields)
      return period !== undefined && period.from >= from && period.to <= to
    }
    const gone = new Set((await find(resource)).filter((row) => !keptIds.has(row.id) && isWithin(row)).map(({ id }) => id))
    if (!gone.size) return []
    for (const dependent of dependents[resource] ?? [])
      for (const row of await find(dependent)) if (gone.has(openSummary(key, row).fields['sleep_id'] as string)) gone.add(row.id)
    return deleteById(app, push, new Map([...gone].map((id) => [id, received])))
  })

/** The periods of stored summaries, by their external ID. */
export async function storedPeriods(app: App, { user, key, provider }: IncomingPush, resource: SummaryName, externals: string[]) {
  const ids = externals.map((external) => summaryId(user.user_id, provider, resource, external))
  const rows = await store.findSummaries(app.db, user.team_id, ids)
  return rows.flatMap((row) => periodOf(openSummary(key, row).fields) ?? [])
}

function periodOf(fields: Record<string, unknown>) {
  const [start, end] = [
    fields['bedtime_start'] ?? fields['time_start'] ?? fields['session_start'],
    fields['bedtime_stop'] ?? fields['time_end'] ?? fields['session_end'],
  ]
  return typeof start === 'string' && typeof end === 'string' ? { from: Date.parse(start), to: Date.parse(end) } : undefined
}

/** Accepts a summary again that the source has after it deleted it. */
export const restoreSummary = (app: App, { team_id, user_id, provider }: Source, resource: SummaryName, external: string) =>
  store.deleteDeletions(
    app.db,
    team_id,
    [resource, ...(dependents[resource] ?? [])].map((resource) => summaryId(user_id, provider, resource, external)),
  )

type Source = { team_id: string; user_id: string; provider: string }

/** A sleep ends with its cycle. */
export const dependents: Partial<Record<SummaryName, SummaryName[]>> = { sleep: ['sleep_cycle'] }

/** Leaves out items that the source has deleted since. Only a notification about the object itself restores it. */
export async function withoutDeleted(app: App, { user, provider }: IncomingPush, built: BuiltItem[]): Promise<BuiltItem[]> {
  const idOf = ({ resource, external }: Draft) => summaryId(user.user_id, provider, resource, external)
  const ids = built.flatMap(({ drafts }) => drafts.map(idOf))
  const found = ids.length ? await store.findDeletions(app.db, user.team_id, ids) : []
  if (!found.length) return built
  const deleted = new Set(found.map(({ id }) => id))
  return built.filter(({ drafts }) => !drafts.some((draft) => deleted.has(idOf(draft))))
}
