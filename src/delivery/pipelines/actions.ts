import type { z } from 'zod'
import type { UpsertPipelines } from '../../contract/delivery/pipelines.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { policyOf } from '../../platform/outbound/address.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import { isReachable, visibleTeams } from '../../tenants/teams/rules.ts'
import { positionAfter } from '../events/log.ts'
import { presentPipelines } from './present.ts'
import * as rules from './rules.ts'
import { openSettings, sealSettings } from './sealed.ts'
import * as store from './store.ts'
import * as outletStore from './store-destinations.ts'
import { brokerOf, restorePassword } from './uri.ts'

type ListQuery = { team_id?: string | null | undefined; next_cursor?: string | null | undefined }

export async function listPipelines(app: App, caller: ManagementCaller, { team_id, next_cursor: cursor }: ListQuery) {
  const page = pageAfter(cursor)
  const found = await store.listPipelines(app.db, caller.org_id, visibleTeams(caller, team_id), page)
  const { rows, next_cursor } = pageOf(found, page, (row) => ({ at: row.created_at, id: row.team_id }))
  return { pipelines: await presentPipelines(app, rows), next_cursor }
}

type Sent = Omit<z.output<typeof UpsertPipelines>, 'team_ids'>

export const upsertPipelines = (app: App, caller: ManagementCaller, { team_ids, ...sent }: z.output<typeof UpsertPipelines>) =>
  inTransaction(app, async (app) => {
    const rows = []
    // Sorted by id, so that two calls never deadlock.
    for (const team_id of [...new Set(team_ids)].sort()) {
      await requireTeam(app, caller, team_id)
      rows.push(await upsert(app, team_id, sent))
    }
    return presentPipelines(app, rows)
  })

async function upsert(app: App, team_id: string, sent: Sent) {
  const at = app.wall()
  const kept = await store.lockPipeline(app.db, { team_id, ...rules.fresh, created_at: at, updated_at: at })
  const has = await outletStore.lockDestinations(app.db, [team_id])
  const settings = rules.settingsFrom(
    sent,
    kept,
    has.map(({ destination }) => destination),
  )
  await outletStore.renewDestinations(app.db, team_id)
  const after_no = settings.push_historical_data ? 0 : await positionAfter(app, team_id, 'end')
  for (const destination of rules.given(sent)) {
    const known = has.find((row) => row.destination === destination)
    const to = destination === 'rabbitmq' ? await brokerFrom(app, sent.rabbitmq, known) : topicFrom(app, sent.cloud_pubsub)
    const sealed = await sealSettings(app, team_id, destination, to)
    await outletStore.putDestination(app.db, { team_id, destination, sealed, after_no, created_at: at })
  }
  return store.updatePipeline(app.db, team_id, settings)
}

async function brokerFrom(app: App, sent: Sent['rabbitmq'], known: outletStore.DestinationRow | undefined) {
  const { uri, exchange } = sent as rules.RabbitMq
  const kept = known && (await openSettings(app, known, 'rabbitmq'))
  const rabbitmq = { uri: restorePassword(uri, kept?.uri), exchange }
  brokerOf(rabbitmq.uri, policyOf(app.config))
  return rabbitmq
}

function topicFrom(app: App, sent: Sent['cloud_pubsub']) {
  const topic = sent as rules.PubSub
  rules.checkProject(topic, app.config.PUBSUB_PROJECTS)
  return topic
}

/** Teams that the key cannot access, or that have no pipeline, are left out of the response. */
export const deletePipelines = (app: App, caller: ManagementCaller, team_ids: string[]) =>
  inTransaction(app, async (app) => {
    const reached = team_ids.filter((id) => isReachable(caller, id))
    const rows = await store.lockPipelines(app.db, caller.org_id, reached)
    const found = rows.map(({ team_id }) => team_id)
    await outletStore.lockDestinations(app.db, found)
    const answer = await presentPipelines(app, rows)
    await store.deletePipelines(app.db, found)
    return answer
  })
