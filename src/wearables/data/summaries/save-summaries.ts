import type { EventName } from '../../../contract/events.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { staleError } from '../../../platform/db/errors.ts'
import { open, seal } from '../../../platform/sealing/seal.ts'
import { endBackfill } from '../backfill.ts'
import { newDeviceResolver } from '../devices.ts'
import { emitData } from '../emit.ts'
import type { IncomingPush } from '../incoming-push.ts'
import { isoOf } from '../rules-present.ts'
import { columnOf } from '../samples/rules-days.ts'
import * as states from '../store-states.ts'
import { presentSummary } from './present.ts'
import { type MergedSummary, mergeSummary, type SummaryDocument, type Verdict } from './rules-merge-summary.ts'
import { type Draft, summaryId } from './rules-summary.ts'
import * as store from './store-summaries.ts'

type Tally = Record<Verdict, number>
type ResolvedDraft = Draft & { device_id: string | null }

/** Resolves the device of each summary to its ID. */
export async function resolveDraftDevices(app: App, push: IncomingPush, drafts: Draft[]): Promise<ResolvedDraft[]> {
  const idOf = newDeviceResolver(app, push)
  const resolved: ResolvedDraft[] = []
  for (const draft of drafts)
    resolved.push({ ...draft, device_id: draft.device === null ? null : await idOf(draft.device, draft.source_type) })
  return resolved
}

/** Stores summaries and emits daily events, or ends the backfill of `resource` and of every other resource that the drafts have. */
export async function saveDrafts(
  app: AppInTransaction,
  push: IncomingPush,
  drafts: ResolvedDraft[],
  resource: SummaryName,
): Promise<Tally> {
  const tally: Tally = { created: 0, updated: 0, unchanged: 0, stale: 0 }
  const merged = await mergeDrafts(app, push, drafts)
  for (const { verdict } of merged) tally[verdict]++
  const resources = [...new Set([resource, ...merged.map(({ row }) => row.resource as SummaryName)])]
  for (const resource of resources) {
    const found = merged.filter(({ row }) => row.resource === resource)
    await emitSummaries(app, push, resource, found)
  }
  return tally
}

const arrivalOf = ({ received, pull }: IncomingPush, { resource, calendar_date }: Draft) => ({
  ...{ received, lastWins: pull !== undefined, replaces: pull?.isComplete?.(resource, calendar_date) ?? false },
})

type SavedSummary = { row: store.SummaryRow; document: SummaryDocument; verdict: Verdict; period: Draft['period'] }

async function mergeDrafts(app: App, push: IncomingPush, drafts: ResolvedDraft[]): Promise<SavedSummary[]> {
  if (!drafts.length) return []
  const { user, key, provider } = push
  const ids = drafts.map(({ resource, external }) => summaryId(user.user_id, provider, resource, external))
  const rows = new Map((await store.lockSummaries(app.db, user.team_id, [...new Set(ids)].sort())).map((row) => [row.id, row]))
  const merged = new Map<string, MergedSummary & Pick<Draft, 'resource' | 'period'>>()
  for (const [i, draft] of drafts.entries()) {
    const id = ids[i] as string
    const [row, earlier] = [rows.get(id), merged.get(id)]
    const stored = row && { version: row.version, calendar_date: row.calendar_date, document: openSummary(key, row) }
    const next = mergeSummary(earlier ?? stored, draft, draft.device_id, arrivalOf(push, draft))
    const verdict = earlier ? combineVerdicts(earlier.verdict, next.verdict) : next.verdict
    const { resource, period } = draft
    merged.set(id, { ...next, resource, period, verdict, changed: next.changed || (earlier?.changed ?? false) })
  }
  const found = [...merged].map(([id, result]) => ({ ...result, row: rowOf(app, push, id, rows.get(id), result) }))
  await writeRows(
    app,
    found.flatMap(({ changed, row }) => (changed ? row : [])),
  )
  return found
}

function rowOf(
  app: App,
  { user: { team_id, user_id }, key, provider }: IncomingPush,
  id: string,
  before: store.SummaryRow | undefined,
  { version, calendar_date, document, verdict, changed, resource }: MergedSummary & Pick<Draft, 'resource'>,
): store.SummaryRow {
  if (before && !changed) return before
  const now = app.now()
  return {
    ...{ id, team_id, user_id, resource, provider, calendar_date, version },
    source_type: columnOf(document.source_type),
    revision: (before?.revision ?? 0) + 1,
    sealed: sealSummary(key, id, document),
    created_at: before?.created_at ?? now,
    // A newer version with the same content emits no event, so updated_at stays too.
    updated_at: before && (verdict === 'unchanged' || verdict === 'stale') ? before.updated_at : now,
  }
}

/** PostgreSQL accepts at most 65,535 parameters per statement. */
async function writeRows(app: App, rows: store.SummaryRow[]) {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  for (let i = 0; i < sorted.length; i += MAX_ROWS_PER_STATEMENT) {
    const chunk = sorted.slice(i, i + MAX_ROWS_PER_STATEMENT)
    if ((await store.writeSummaries(app.db, chunk)) < chunk.length) throw staleError('Another writer changed a summary first')
  }
}

const MAX_ROWS_PER_STATEMENT = 1000

/** Combines the verdicts of a summary that occurs twice in a push. */
const combineVerdicts = (first: Verdict, second: Verdict): Verdict =>
  first === 'created' || second === 'unchanged' || second === 'stale' ? first : second

async function emitSummaries(app: AppInTransaction, push: IncomingPush, resource: SummaryName, found: SavedSummary[]) {
  const { user, provider, stage } = push
  const { team_id, user_id } = user
  const [created, updated] = (['created', 'updated'] as const).map((verb) => found.filter(({ verdict }) => verdict === verb)) as [
    SavedSummary[],
    SavedSummary[],
  ]
  if (stage === 'historical')
    await endBackfill(app, push, [{ resource, created, updated, days: new Set(found.map(({ row }) => row.calendar_date)).size }])
  else
    for (const { row, document, verdict } of [...created, ...updated])
      await emitData(app, push, resource, `daily.data.${resource}.${verdict}` as EventName, presentSummary(app, row, document))
  const starts = found.flatMap(({ period }) => (period ? [period.from] : []))
  await states.recordReceived(app.db, {
    ...{ team_id, user_id, provider, resource, stage, at: app.now() },
    oldest: starts.length ? isoOf(Math.min(...starts)) : null,
    newest: starts.length ? isoOf(Math.max(...starts)) : null,
    sent: stage === 'daily' ? created.length + updated.length : 0,
  })
}

/** Changes computed fields of locked summaries. Emits an event only where the source sent no value of its own. */
export async function changeDerived(app: AppInTransaction, locked: LockedSummary[], stage: IncomingPush['stage']) {
  const changes = locked.map(({ row, key, user, document: before, derived }) => {
    const isVisible = Object.keys({ ...before.derived, ...derived }).some((name) => before.fields[name] === null)
    const document = { ...before, derived }
    const updated_at = isVisible ? app.now() : row.updated_at
    const changed = { ...row, revision: row.revision + 1, sealed: sealSummary(key, row.id, document), updated_at }
    return { row: changed, owner: { user, key }, document, isVisible }
  })
  await writeRows(
    app,
    changes.map(({ row }) => row),
  )
  for (const { row, owner, document } of changes.filter(({ isVisible }) => isVisible && stage === 'daily'))
    await emitData(app, owner, row.resource, `daily.data.${row.resource}.updated` as EventName, presentSummary(app, row, document))
}

type LockedSummary = Pick<IncomingPush, 'user' | 'key'> & {
  row: store.SummaryRow
  document: SummaryDocument
  derived: Record<string, unknown>
}

export const openSummary = (key: IncomingPush['key'], { id, sealed }: Pick<store.SummaryRow, 'id' | 'sealed'>) =>
  open<SummaryDocument>(key, associatedData(id), sealed)

const sealSummary = (key: IncomingPush['key'], id: string, document: SummaryDocument) => seal(key, associatedData(id), document)

const associatedData = (id: string) => `summaries.sealed.${id}`
