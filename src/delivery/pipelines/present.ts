import { type SupportedDestination, supportedDestinations } from '../../contract/delivery/pipelines.ts'
import type { App } from '../../platform/app.ts'
import { presentFormat } from '../formats/rules.ts'
import { listFormats } from '../formats/settings.ts'
import { openSettings } from './encrypted-settings.ts'
import { type Failure, failures } from './rules-failure.ts'
import type { PipelineRow } from './store.ts'
import * as store from './store-destinations.ts'
import { hidePassword } from './uri.ts'

/** Pipelines as responses show them: their settings and the state of each destination. */
export async function presentPipelines(app: App, rows: PipelineRow[]) {
  const team_ids = rows.map(({ team_id }) => team_id)
  const destinationsByTeam = Map.groupBy(await store.listDestinations(app.db, team_ids), ({ team_id }) => team_id)
  const pending = await store.countPending(app.db, team_ids, team_ids.length * supportedDestinations.length)
  const formatsByTeam = new Map(await Promise.all(team_ids.map(async (team_id) => [team_id, await listFormats(app, team_id)] as const)))
  const lagOf = (row: store.DestinationRow) =>
    pending.find(({ team_id, destination }) => team_id === row.team_id && destination === row.destination)?.lag ?? 0
  return Promise.all(
    rows.map(async ({ preferred, enabled, ...row }) => {
      const destinations = destinationsByTeam.get(row.team_id) ?? []
      const formats = formatsByTeam.get(row.team_id) as Formats
      const rabbitmq = await settingsOf(app, destinations, formats, 'rabbitmq')
      return {
        ...row,
        provider_raw_data: false,
        preferences: { preferred, enabled },
        cloud_pubsub: await settingsOf(app, destinations, formats, 'cloud_pubsub'),
        rabbitmq: rabbitmq && { ...rabbitmq, uri: hidePassword(rabbitmq.uri) },
        svix: null,
        azure_amqp: null,
        destinations: destinations.map((destinationRow) => presentDestination(destinationRow, lagOf(destinationRow))),
      }
    }),
  )
}

type Formats = Awaited<ReturnType<typeof listFormats>>

async function settingsOf<D extends SupportedDestination>(app: App, destinations: store.DestinationRow[], formats: Formats, name: D) {
  const destinationRow = destinations.find(({ destination }) => destination === name)
  if (!destinationRow) return null
  return { ...(await openSettings(app, destinationRow, name)), ...presentFormat(formats.get(name) ?? []) }
}

const presentDestination = (row: store.DestinationRow, lag: number) => ({
  ...row,
  lag,
  failing_since: row.first_failure_at,
  last_error: errorOf(row),
  next_try_at: row.retry_at,
})

const errorOf = ({ last_error, last_failure_at }: store.DestinationRow) =>
  last_error && last_failure_at ? { code: last_error, message: failures[last_error as Failure], at: last_failure_at } : null
