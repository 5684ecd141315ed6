import type { z } from 'zod'
import { BEGINNING, type Position } from '../../contract/delivery/log-rows.ts'
import { supportedDestinations, type UpsertPipelines } from '../../contract/delivery/pipelines.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { policyOf } from '../../platform/outbound/address.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import { isReachable, visibleTeams } from '../../tenants/teams/rules.ts'
import { changeAtEnds, changeDelivery } from '../events/change-log.ts'
import { changeFormat, forgetFormats } from '../formats/settings.ts'
import { openSettings, sealSettings } from './encrypted-settings.ts'
import { presentPipelines } from './present.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import * as destinationStore from './store-destinations.ts'
import { brokerOf, restorePassword } from './uri.ts'

type ListQuery = { team_id?: string | null | undefined; next_cursor?: string | null | undefined }

export async function listPipelines(app: App, caller: ManagementCaller, { team_id, next_cursor: cursor }: ListQuery) {
  const page = pageAfter(cursor)
  const found = await store.listPipelines(app.db, caller.org_id, visibleTeams(caller, team_id), page)
  const { rows, next_cursor } = pageOf(found, page, (row) => ({ at: row.created_at, id: row.team_id }))
  return { pipelines: await presentPipelines(app, rows), next_cursor }
}

type PipelineBody = Omit<z.output<typeof UpsertPipelines>, 'team_ids'>

/** A new destination begins at the end of the log. */
export async function upsertPipelines(app: App, caller: ManagementCaller, { team_ids, ...body }: z.output<typeof UpsertPipelines>) {
  const sorted = [...new Set(team_ids)].sort()
  for (const team_id of sorted) await requireTeam(app, caller, team_id)
  return changeAtEnds(app, sorted, async (app, endOf) => {
    const rows = []
    for (const team_id of sorted) rows.push(await upsertPipeline(app, team_id, body, endOf(team_id)))
    return presentPipelines(app, rows)
  })
}

async function upsertPipeline(app: AppInTransaction, team_id: string, body: PipelineBody, end: Position) {
  const at = app.wall()
  const stored = await store.lockPipeline(app.db, { team_id, ...rules.newPipeline, created_at: at, updated_at: at })
  const destinations = await destinationStore.lockDestinations(app.db, team_id)
  const settings = rules.settingsFrom(
    body,
    stored,
    destinations.map(({ destination }) => destination),
  )
  await destinationStore.resetDestinations(app.db, team_id)
  const start = settings.push_historical_data ? { no: 0, at: BEGINNING } : end
  for (const destination of rules.requestedDestinations(body)) {
    const row = destinations.find((row) => row.destination === destination)
    const destinationSettings = destination === 'rabbitmq' ? await brokerFrom(app, body.rabbitmq, row) : topicFrom(app, body.cloud_pubsub)
    const sealed = await sealSettings(app, team_id, destination, destinationSettings)
    await destinationStore.putDestination(app.db, { team_id, destination, sealed, after_no: start.no, after_at: start.at, created_at: at })
    await changeFormat(app, { team_id, destination, after_no: row ? end.no : start.no }, body[destination] ?? {})
  }
  return store.updatePipeline(app.db, team_id, settings)
}

async function brokerFrom(app: App, rabbitmq: PipelineBody['rabbitmq'], row: destinationStore.DestinationRow | undefined) {
  const { uri, exchange } = rabbitmq as rules.RabbitMq
  const stored = row && (await openSettings(app, row, 'rabbitmq'))
  const broker = { uri: restorePassword(uri, stored?.uri), exchange }
  brokerOf(broker.uri, policyOf(app.config))
  return broker
}

function topicFrom(app: App, cloud_pubsub: PipelineBody['cloud_pubsub']) {
  const { project, topic: name, message_ordering } = cloud_pubsub as rules.PubSub
  const topic = { project, topic: name, message_ordering }
  rules.checkProject(topic, app.config.PUBSUB_PROJECTS)
  return topic
}

/** Teams that the key cannot access, or that have no pipeline, are left out of the response. */
export const deletePipelines = (app: App, caller: ManagementCaller, team_ids: string[]) =>
  inTransaction(app, async (app) => {
    const rows: store.PipelineRow[] = []
    // Sorted by ID, so that two calls never deadlock.
    for (const team_id of [...new Set(team_ids)].filter((id) => isReachable(caller, id)).sort()) {
      if (!(await store.findPipelineOf(app.db, caller.org_id, team_id))) continue
      const row = await changeDelivery(app, team_id, (app) => store.lockPipelineOf(app.db, caller.org_id, team_id))
      if (!row) continue
      await destinationStore.lockDestinations(app.db, team_id)
      rows.push(row)
    }
    const deleted = await presentPipelines(app, rows)
    for (const { team_id } of rows) {
      await store.deletePipeline(app.db, team_id)
      await forgetFormats(app, team_id, supportedDestinations)
    }
    return deleted
  })
