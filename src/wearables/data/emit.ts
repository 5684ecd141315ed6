import type { EventName } from '../../contract/delivery/events.ts'
import { sources } from '../../contract/tenants/sources.ts'
import { type SeriesName, series } from '../../contract/wearables/series.ts'
import { emit, eventRow } from '../../delivery/events/emit.ts'
import { chunks } from '../../delivery/events/rules-size.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import type { IncomingPush } from './incoming-push.ts'
import { byOrigin, type Origin, samplePresenter } from './rules-present.ts'
import type { Sample } from './samples/rules-codec.ts'

type Verb = 'created' | 'updated'

/** A source as data names it: provider and what it came from, and the names that older clients read. */
export const presentSource = (app: App, provider: IncomingPush['provider'], origin: Origin) => ({
  provider,
  ...origin,
  ...providerOf(app, provider),
})

/** What is told of samples, in as many events as they need. */
export function sampleEvents(app: App, { user, key, provider }: IncomingPush, name: SeriesName, verb: Verb, samples: Sample[]) {
  const row = series[name]
  const { event } = row
  if (event === null) return []
  const { user_id } = user
  return byOrigin(row, samples).flatMap(({ origin, samples: group }) => {
    const batch = {
      user_id,
      source: presentSource(app, provider, origin),
      source_id: sources[provider].id,
      data: group.map(samplePresenter(row)),
    }
    const subject = about(app, user, event, `daily.data.${event}.${verb}` as EventName)
    return chunks(batch, app.config.EVENT_MAX_KB).map((data) => eventRow(app, key, { ...subject, data: data as never }))
  })
}

/** Events about a user and a resource keep their order; those of the past have one of their own, so that nothing live waits for them. */
export const about = (app: App, { team_id, user_id, client_user_id }: IncomingPush['user'], resource: string, event_type: EventName) => {
  const key = `${event_type.startsWith('historical.') ? 'history' : 'data'} ${user_id} ${resource}`
  return { team_id, user_id, client_user_id, event_type, key, at: app.now() }
}

/** One event. Its shape follows from the resource; the stories check every event against the catalogue. */
export const emitData = (
  app: AppInTransaction,
  { user, key }: Pick<IncomingPush, 'user' | 'key'>,
  resource: string,
  event_type: EventName,
  data: object,
) => emit(app, key, { ...about(app, user, resource, event_type), data: { user_id: user.user_id, ...data } as never })
