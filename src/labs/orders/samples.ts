import type { App, AppInTransaction } from '../../platform/app.ts'
import { invalid } from '../../platform/problem.ts'
import type { OrderRow } from './store.ts'
import * as store from './store-samples.ts'

type SampledOrder = Pick<OrderRow, 'team_id' | 'id' | 'lab_id' | 'sample_id'>

/** Reserves the sample_id of an order. It is unique at a lab across teams, even between concurrent requests. */
export async function claimSample(app: AppInTransaction, { team_id, id: order_id, lab_id, sample_id }: SampledOrder) {
  if (!sample_id || (await store.insertSample(app.db, { lab_id, sample_id, team_id, order_id }))) return
  const holder = await store.findSample(app.db, { lab_id, sample_id })
  if (holder?.team_id !== team_id || holder.order_id !== order_id)
    throw invalid(
      ['body', 'sample_id'],
      'Another order of the lab has this sample_id. Send the ID that is printed on the specimen.',
      'sample_id_taken',
    )
}

/** The sample_id, or null if another order of the lab has it. */
export const freeSample = async ({ db }: App, lab_id: number, sample_id: string) =>
  (await store.findSample(db, { lab_id, sample_id })) ? null : sample_id

/** Reserves the new sample_id of an order and releases the old one. */
export async function changeSample(app: AppInTransaction, before: SampledOrder, after: SampledOrder) {
  if (before.sample_id === after.sample_id) return
  await claimSample(app, after)
  if (before.sample_id) await store.deleteSample(app.db, { lab_id: before.lab_id, sample_id: before.sample_id })
}

type SampleChange = { before: SampledOrder; after: SampledOrder }

/** Does what `changeSample` does, for several orders of a team. Orders without an earlier sample_id share a statement. */
export async function changeSamples(app: AppInTransaction, team_id: string, changes: SampleChange[]) {
  const added = changes.flatMap(({ before, after: { lab_id, sample_id, id } }) =>
    sample_id && !before.sample_id ? [{ lab_id, sample_id, order_id: id }] : [],
  )
  const inserted = added.length > 1 ? await store.insertSamples(app.db, team_id, added) : new Set()
  for (const { before, after } of changes) if (!inserted.has(after.id)) await changeSample(app, before, after)
}

export type NumberedOrder = { team_id: string; id: string; clock_offset_ms: number }

/** The order that a lab knows by the first of these numbers, of any team. */
export async function findNumberedOrder({ db }: App, lab_id: number, numbers: string[]): Promise<NumberedOrder | undefined> {
  for (const sample_id of new Set(numbers)) {
    const found = await store.findSampledOrder(db, { lab_id, sample_id })
    if (found) return found
  }
  return undefined
}

const MAX_FILLER_NUMBER = 199

/** A valid filler order number. PostgreSQL cannot store NUL. */
const isFiller = (number: string | null): number is string =>
  number !== null && number.length <= MAX_FILLER_NUMBER && !/\p{Cc}/u.test(number)

/** Stores the lab's own numbers of an order, because later messages may contain only those. */
export async function keepFillers(app: App, { lab_id, sample_id, team_id, id }: SampledOrder, numbers: (string | null)[]) {
  const rows = [...new Set(numbers.filter(isFiller))].map((filler_number) => ({ lab_id, filler_number, team_id, order_id: id }))
  if (sample_id && rows.length)
    await store.insertFillers(
      app.db,
      rows.map((row) => ({ ...row, sample_id })),
    )
}

/** The order numbers that a lab gave this number of its own: several if it has used the number again. */
export const findFilled = async ({ db }: App, lab_id: number, number: string | null): Promise<string[]> =>
  isFiller(number) ? (await store.findFilledSamples(db, lab_id, number)).map(({ sample_id }) => sample_id) : []
