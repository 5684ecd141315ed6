import type { App, AppInTransaction } from '../../../platform/app.ts'
import { byteaText, type JsonRow } from '../../../platform/db/rows/json-rows.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import { keepUser } from '../../../tenants/users/transfer.ts'
import type { IdOf } from '../../../tenants/users/transfer-part.ts'
import { openDay, sealDay } from '../samples/days.ts'
import type { Sample } from '../samples/rules-codec.ts'
import { pieceOf } from '../samples/rules-pieces.ts'
import { openStream, sealStream } from '../streams/streams.ts'
import { renameIdsInside } from './referenced-ids.ts'
import * as store from './store.ts'

/** Samples and streams have their own lines, because they would make a user's line too long. */
export type Records = {
  records_of: string
  sample_days?: (Omit<store.Day, 'sealed'> & { samples: Sample[] })[]
  workout_streams?: (JsonRow & { workout_id: string; stream: unknown })[]
}

const SAMPLES_PER_LINE = 20_000
const STREAMS_PER_LINE = 20

export async function* recordsOf(app: App, key: SealingKey, owner: store.Owner): AsyncGenerator<Records> {
  const { user_id } = owner
  for (let last: store.Day | undefined; ; ) {
    const days = await store.listDaysAfter(app.db, owner, last, SAMPLES_PER_LINE)
    last = days.at(-1)
    if (!last) break
    const open = ({ sealed, ...day }: store.Day) => ({ ...day, samples: openDay(key, { ...owner, ...day }, { ...day, sealed }) })
    yield { records_of: user_id, sample_days: days.map(open) }
  }
  for (let last: string | undefined; ; ) {
    const streams = await store.listStreamsAfter(app.db, owner, last, STREAMS_PER_LINE)
    last = streams.at(-1)?.workout_id
    if (!last) break
    const open = ({ sealed, team_id: _, user_id: __, ...row }: (typeof streams)[number]) => ({
      ...row,
      stream: JSON.parse(openStream(key, row.workout_id, sealed)) as unknown,
    })
    yield { records_of: user_id, workout_streams: streams.map(open) }
  }
}

/** Writes records that are missing, encrypted with the user's new key. */
export async function writeRecords(
  app: AppInTransaction,
  team_id: string,
  idOf: IdOf,
  { records_of, sample_days = [], workout_streams = [] }: Records,
) {
  const user_id = idOf(records_of)
  await keepUser(app.db, team_id, user_id)
  const key = await userSealingKey(app, team_id, user_id)
  if (!key) return
  const days = sample_days.map(({ samples, ...day }) => {
    const sealed = sealDay(key, { team_id, user_id, ...day }, day, samples.length ? [pieceOf(samples.map(renameSampleIds(idOf)))] : [])
    return { ...day, team_id, user_id, samples: samples.length, sealed: byteaText(sealed) }
  })
  const streams = workout_streams.map(({ stream, ...row }) => {
    const workout_id = idOf(row.workout_id)
    return { ...row, workout_id, team_id, user_id, sealed: byteaText(sealStream(key, workout_id, JSON.stringify(stream))) }
  })
  await store.insertDays(app.db, days)
  await store.insertStreams(app.db, streams)
}

/** A sample may refer to a device in its extra fields. */
const renameSampleIds = (idOf: IdOf) => (sample: Sample) => {
  if (!sample.more.includes('device_id')) return sample
  const { device_id } = JSON.parse(sample.more) as { device_id: string }
  return { ...sample, more: JSON.stringify(renameIdsInside(JSON.parse(sample.more), new Set([device_id]), idOf)) }
}
