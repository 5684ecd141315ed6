import type { EventName } from '../../../contract/delivery/events.ts'
import { type SeriesName, series } from '../../../contract/wearables/series.ts'
import { emitRows, eventRow } from '../../../delivery/events/emit.ts'
import { splitIntoChunks } from '../../../delivery/events/rules-size.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import { eventHeader } from '../emit.ts'
import type { IncomingPush } from '../incoming-push.ts'
import { isoOf } from '../rules-present.ts'
import { dayOf } from '../rules-time.ts'
import { openDay, sealDay } from './days.ts'
import type { Sample } from './rules-codec.ts'
import { pieceOf } from './rules-pieces.ts'
import * as store from './store-days.ts'

type Period = { from: number; to: number }

/** Deletes samples that the source no longer has within periods, and emits their times. `keep` names those that stay. */
export const removeSamples = (app: App, push: IncomingPush, name: SeriesName, periods: Period[], keep: (sample: Sample) => boolean) =>
  inTransaction(app, async (app) => {
    const { user, key, provider } = push
    const { team_id, user_id } = user
    if (!periods.length) return
    const scope = { team_id, user_id, resource: name, provider }
    const isGone = (sample: Sample) => periods.some(({ from, to }) => sample.at >= from && sample.at <= to) && !keep(sample)
    const bounds = { from: Math.min(...periods.map(({ from }) => from)), to: Math.max(...periods.map(({ to }) => to)) }
    const removed: Sample[] = []
    for (const row of await store.lockDaysBetween(app.db, scope, dayOf(bounds.from), dayOf(bounds.to))) {
      const samples = openDay(key, scope, row)
      const left = samples.filter((sample) => !isGone(sample))
      if (left.length === samples.length) continue
      removed.push(...samples.filter(isGone))
      // An empty day stays, so that a writer who merged without a lock notices the change.
      await store.updateDay(app.db, scope, {
        ...{ day: row.day, source_type: row.source_type, samples: left.length, revision: row.revision + 1 },
        sealed: sealDay(key, scope, row, left.length ? [pieceOf(left)] : []),
      })
    }
    const { event } = series[name]
    if (!removed.length || event === null || push.stage !== 'daily') return
    const data = removed.map(({ at, type }) => ({ timestamp: isoOf(at), type: type || null }))
    const header = eventHeader(app, user, event, `daily.data.${event}.deleted` as EventName)
    const chunks = splitIntoChunks({ user_id, provider, data }, app.config.EVENT_MAX_KB)
    await emitRows(
      app,
      chunks.map((chunk) => eventRow(app, key, { ...header, data: chunk as never })),
    )
  })
