import type { EventName } from '../../../contract/events.ts'
import { type SeriesName, series } from '../../../contract/wearables/series.ts'
import { emitRows, eventRowOfText } from '../../../delivery/events/emit.ts'
import { splitIntoChunks } from '../../../delivery/events/rules-size.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import { runInSlices } from '../../../platform/shares/slices.ts'
import { dayOf } from '../../time/rules.ts'
import { eventHeader } from '../emit.ts'
import type { IncomingPush } from '../incoming-push.ts'
import { isoOf, writerOf } from '../rules-present.ts'
import { openDay, sealDay } from './days.ts'
import type { Sample } from './rules-codec.ts'
import { pieceOf } from './rules-pieces.ts'
import * as store from './store-days.ts'

type Period = { from: number; to: number }

type Keep = (name: SeriesName, sample: Sample) => boolean

/** Deletes samples that the source no longer has within periods, and emits their times. `keep` names those that stay. */
export async function removeSamples(app: App, push: IncomingPush, names: SeriesName[], periods: Period[], keep: Keep) {
  if (!periods.length || !names.length) return
  const isIn = ({ at }: Sample) => periods.some(({ from, to }) => at >= from && at <= to)
  const days = { from: dayOf(Math.min(...periods.map(({ from }) => from))), to: dayOf(Math.max(...periods.map(({ to }) => to))) }
  const { team_id, user_id } = push.user
  const source = { team_id, user_id, provider: push.provider }
  // Most reads find nothing to delete, so only the others lock.
  const stored = await store.findDaysBetween(app.db, source, names, days)
  for (const name of names) {
    const isGone = (sample: Sample) => isIn(sample) && !keep(name, sample)
    const rows = stored.filter(({ resource }) => resource === name)
    if (rows.some((row) => openDay(push.key, { ...source, resource: name }, row).some(isGone)))
      await removeSeries(app, push, name, days, isGone)
  }
}

const removeSeries = (app: App, push: IncomingPush, name: SeriesName, days: store.Days, isGone: (sample: Sample) => boolean) =>
  inTransaction(app, async (app) => {
    const { user, key, provider } = push
    const { team_id, user_id } = user
    const scope = { team_id, user_id, resource: name, provider }
    const removed: Sample[] = []
    for (const row of await store.lockDaysBetween(app.db, scope, days)) {
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
    const write = writerOf(({ at, type }) => ({ timestamp: isoOf(at), type: type || null }))
    const header = eventHeader(app, user, event, `daily.data.${event}.deleted` as EventName)
    const chunks = await runInSlices(splitIntoChunks({ user_id, provider }, removed, write, app.config.EVENT_MAX_KB))
    await emitRows(
      app,
      chunks.map((chunk) => eventRowOfText(app, key, header, chunk)),
    )
  })
