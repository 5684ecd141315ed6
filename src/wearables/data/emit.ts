import type { EventName } from '../../contract/events.ts'
import { sources } from '../../contract/tenants/sources.ts'
import { type SeriesName, series } from '../../contract/wearables/series.ts'
import { emit, eventRowOfText } from '../../delivery/events/emit.ts'
import { splitIntoChunks } from '../../delivery/events/rules-size.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { EventRow } from '../../platform/db/rows/event-rows.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import type { IncomingPush } from './incoming-push.ts'
import { groupByOrigin, type Origin, sampleWriter } from './rules-present.ts'
import type { Sample } from './samples/rules-codec.ts'

/** The source in responses and events, with the fields that older clients read. */
export const presentSource = (app: App, provider: IncomingPush['provider'], origin: Origin) => ({
  provider,
  ...origin,
  ...providerOf(app, provider),
})

/** The events about samples, split into chunks of the maximum event size. */
export function* sampleEvents(
  app: App,
  { user, key, provider }: IncomingPush,
  name: SeriesName,
  changes: Record<'created' | 'updated', Sample[]>,
) {
  const row = series[name]
  const { event } = row
  const rows: EventRow[] = []
  if (event === null) return rows
  for (const verb of ['created', 'updated'] as const) {
    const header = eventHeader(app, user, event, `daily.data.${event}.${verb}` as EventName)
    for (const { origin, samples } of groupByOrigin(row, changes[verb])) {
      const frame = { user_id: user.user_id, source: presentSource(app, provider, origin), source_id: sources[provider].id }
      for (const data of yield* splitIntoChunks(frame, samples, sampleWriter(row), app.config.EVENT_MAX_KB)) {
        if (rows.length) yield
        rows.push(eventRowOfText(app, key, header, data))
      }
    }
  }
  return rows
}

/** Historical events have their own key, so that live events never wait for them. */
export const eventHeader = (
  app: App,
  { team_id, user_id, client_user_id }: IncomingPush['user'],
  resource: string,
  event_type: EventName,
) => {
  const key = `${event_type.startsWith('historical.') ? 'history' : 'data'} ${user_id} ${resource}`
  return { team_id, user_id, client_user_id, event_type, key, at: app.now() }
}

/** Emits one event. The tests check every event against the catalog. */
export const emitData = (
  app: AppInTransaction,
  { user, key }: Pick<IncomingPush, 'user' | 'key'>,
  resource: string,
  event_type: EventName,
  data: object,
) => emit(app, key, { ...eventHeader(app, user, resource, event_type), data: { user_id: user.user_id, ...data } as never })
