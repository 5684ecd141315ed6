import type { z } from 'zod'
import { type App, inTransaction, type ManagementCaller } from '../app.ts'
import type { UpsertPipelines } from '../contract/pipelines.ts'
import { placeAfter } from '../events/log.ts'
import { pageAfter, pageOf } from '../paging.ts'
import { requireTeam } from '../teams/actions.ts'
import { isReachable, visibleTeams } from '../teams/rules.ts'
import { policyOf } from '../webhooks/address.ts'
import * as rules from './rules.ts'
import { type Failure, failures } from './rules-failure.ts'
import { openDestination, sealDestination } from './sealed.ts'
import * as store from './store.ts'
import { brokerOf, hidden, unhidden } from './uri.ts'

type ListQuery = { team_id?: string | null | undefined; next_cursor?: string | null | undefined }

export async function listPipelines(app: App, caller: ManagementCaller, { team_id, next_cursor: cursor }: ListQuery) {
  const page = pageAfter(cursor)
  const found = await store.listPipelines(app.db, caller.org_id, visibleTeams(caller, team_id), page)
  const { rows, next_cursor } = pageOf(found, page, (row) => ({ at: row.created_at, id: row.team_id }))
  return { pipelines: await shown(app, rows), next_cursor }
}

type Sent = z.output<typeof UpsertPipelines>

export const upsertPipelines = (app: App, caller: ManagementCaller, { team_ids, ...sent }: Sent) =>
  inTransaction(app, async (app) => {
    const rows = []
    // In the order of their ids, so that two calls never wait for each other.
    for (const team_id of [...new Set(team_ids)].sort()) {
      await requireTeam(app, caller, team_id)
      rows.push(await upsert(app, team_id, sent))
    }
    return shown(app, rows)
  })

async function upsert(app: App, team_id: string, sent: Omit<Sent, 'team_ids'>) {
  const kept = await store.lockPipeline(app.db, team_id)
  const settings = rules.settingsFrom(sent, kept)
  const sealed = await destinationFrom(app, team_id, sent.rabbitmq, kept)
  const updated_at = app.wall()
  if (!kept) {
    const after_no = settings.push_historical_data ? 0 : await placeAfter(app, team_id, 'end')
    return store.insertPipeline(app.db, { team_id, ...settings, sealed, after_no, created_at: updated_at, updated_at })
  }
  return store.updatePipeline(app.db, team_id, { ...settings, sealed, updated_at, revision: kept.revision + 1, ...well })
}

/** Whoever changes a pipeline has repaired something, so it is tried at once. */
const well = { failures: 0, first_failure_at: null, last_failure_at: null, last_error: null, retry_at: null }

async function destinationFrom(app: App, team_id: string, sent: Sent['rabbitmq'], kept: store.PipelineRow | undefined) {
  const known = kept && (await openDestination(app, kept))
  if (!sent && kept) return kept.sealed
  const { uri, exchange } = rules.checkDestination(sent)
  const rabbitmq = { uri: unhidden(uri, known?.uri), exchange }
  brokerOf(rabbitmq.uri, policyOf(app.config))
  return sealDestination(app, team_id, rabbitmq)
}

/** Teams that the key cannot reach, or that have no pipeline, are left out of the answer. */
export const deletePipelines = (app: App, caller: ManagementCaller, team_ids: string[]) =>
  inTransaction(app, async (app) => {
    const reached = team_ids.filter((id) => isReachable(caller, id))
    return shown(app, await store.deletePipelines(app.db, caller.org_id, reached))
  })

async function shown(app: App, rows: store.PipelineRow[]) {
  const team_ids = rows.map(({ team_id }) => team_id)
  const lags = new Map((await store.waiting(app.db, team_ids, rows.length)).map(({ team_id, lag }) => [team_id, lag]))
  return Promise.all(
    rows.map(async ({ preferred, enabled, ...row }) => {
      const { uri, exchange } = await openDestination(app, row)
      return {
        ...row,
        provider_raw_data: false,
        preferences: { preferred, enabled },
        cloud_pubsub: null,
        rabbitmq: { uri: hidden(uri), exchange },
        svix: null,
        azure_amqp: null,
        lag: lags.get(row.team_id) ?? 0,
        failing_since: row.first_failure_at,
        last_error: errorOf(row),
        next_try_at: row.retry_at,
      }
    }),
  )
}

const errorOf = ({ last_error, last_failure_at }: store.PipelineRow | Omit<store.PipelineRow, 'preferred' | 'enabled'>) =>
  last_error && last_failure_at ? { code: last_error, message: failures[last_error as Failure], at: last_failure_at } : null
