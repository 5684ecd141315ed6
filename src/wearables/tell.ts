import type { App } from '../app.ts'
import type { EventName } from '../contract/events.ts'
import { type SeriesName, series } from '../contract/series.ts'
import { sources } from '../contract/sources.ts'
import { emit } from '../events/emit.ts'
import { providerOf } from '../sources/actions.ts'
import type { Delivery } from './delivery.ts'
import type { Sample } from './rules-codec.ts'
import { byOrigin, type Origin, pieces, shownSample } from './rules-show.ts'

type Verb = 'created' | 'updated'

/** A source as data names it: provider and what it came from, and the names that older clients read. */
export const sourceShown = (app: App, provider: Delivery['provider'], origin: Origin) => ({
  provider,
  ...origin,
  ...providerOf(app, provider),
})

/** Tells of samples, in as many events as they need. */
export async function tellSamples(app: App, delivery: Delivery, name: SeriesName, verb: Verb, samples: Sample[]) {
  const row = series[name]
  if (row.event === null) return
  for (const { origin, samples: group } of byOrigin(row, samples)) {
    const cut = pieces(row, group)
    for (const [i, piece] of cut.entries())
      await tell(app, delivery, row.event, `daily.data.${row.event}.${verb}` as EventName, {
        source: sourceShown(app, delivery.provider, origin),
        source_id: sources[delivery.provider].id,
        data: piece.map((sample) => shownSample(row, sample)),
        chunk_index: i,
        total_chunks: cut.length,
      })
  }
}

/** One event about a user and a resource; those keep their order. */
export async function tell(app: App, { user, key }: Pick<Delivery, 'user' | 'key'>, resource: string, event_type: EventName, data: object) {
  const { team_id, user_id, client_user_id } = user
  // Its shape follows from the resource; the stories check every event against the catalogue.
  const told = { user_id, ...data } as never
  await emit(app, key, { team_id, user_id, client_user_id, event_type, key: `data ${user_id} ${resource}`, at: app.now(), data: told })
}
