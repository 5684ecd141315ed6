import { type Insertable, type Selectable, sql } from 'kysely'
import { setLocally } from '../../platform/db/local-settings.ts'
import { type Db, prepareSearch, prepareStatement, run } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

type Sample = Selectable<Tables['lab_samples']>

const insertFreeSample = prepareSearch('insert_sample', (db, lab_id: number, sample_id: string, team_id: string, order_id: string) =>
  db
    .insertInto('lab_samples')
    .values({ lab_id, sample_id, team_id, order_id })
    .onConflict((conflict) => conflict.columns(['lab_id', 'sample_id']).doNothing())
    .returning('order_id'),
)

/** Returns whether the sample_id was free at its lab. */
export const insertSample = async (db: Db, { lab_id, sample_id, team_id, order_id }: Sample) =>
  (await insertFreeSample(db, lab_id, sample_id, team_id, order_id)).length > 0

const insertFreeSamples = prepareStatement(
  'insert_samples',
  `insert into lab_samples (lab_id, sample_id, team_id, order_id)
   select s.lab_id, s.sample_id, $1::uuid, s.order_id from unnest($2::integer[], $3::text[], $4::uuid[]) as s (lab_id, sample_id, order_id)
   on conflict (lab_id, sample_id) do nothing returning order_id`,
)

/** Inserts the samples of a team whose sample_id is free at their lab, and returns their orders. */
export async function insertSamples(db: Db, team_id: string, samples: Omit<Sample, 'team_id'>[]) {
  const valuesOf = (column: 'lab_id' | 'sample_id' | 'order_id') => samples.map((sample) => sample[column])
  const values = [team_id, valuesOf('lab_id'), valuesOf('sample_id'), valuesOf('order_id')]
  const rows = await run<{ order_id: string }>(db, insertFreeSamples, values)
  return new Set(rows.map(({ order_id }) => order_id))
}

type SampleKey = Pick<Sample, 'lab_id' | 'sample_id'>

export const findSample = (db: Db, { lab_id, sample_id }: SampleKey) =>
  db
    .selectFrom('lab_samples')
    .select(['team_id', 'order_id'])
    .where('lab_id', '=', lab_id)
    .where('sample_id', '=', sample_id)
    .executeTakeFirst()

/** Keeps the numbers that a lab gave to an order. */
export const insertFillers = (db: Db, rows: Insertable<Tables['lab_fillers']>[]) =>
  db
    .insertInto('lab_fillers')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()

/** The order numbers that go with a number of the lab, of any team. */
export const findFilledSamples = (db: Db, lab_id: number, filler_number: string) =>
  db.selectFrom('lab_fillers').select('sample_id').where('lab_id', '=', lab_id).where('filler_number', '=', filler_number).execute()

/** Moves a specimen to another order of its team. */
export const moveSample = (db: Db, { lab_id, sample_id }: SampleKey, order_id: string) =>
  db.updateTable('lab_samples').set({ order_id }).where('lab_id', '=', lab_id).where('sample_id', '=', sample_id).execute()
/** The order of a specimen, of any team. */
export const findSampledOrder = (db: Db, { lab_id, sample_id }: SampleKey) =>
  db
    .selectFrom('lab_samples')
    .innerJoin('teams', 'teams.id', 'lab_samples.team_id')
    .select(['lab_samples.team_id', 'lab_samples.order_id as id', 'teams.clock_offset_ms'])
    .where('lab_samples.lab_id', '=', lab_id)
    .where('lab_samples.sample_id', '=', sample_id)
    .executeTakeFirst()

export const deleteSample = (db: Db, { lab_id, sample_id }: SampleKey) =>
  db.deleteFrom('lab_samples').where('lab_id', '=', lab_id).where('sample_id', '=', sample_id).execute()

export async function deleteSamplesOfOrders(db: Db, team_id: string, order_ids: string[]) {
  const { samples, fillers } = await numbersOf(db, team_id)
  const isOneOf = sql<string>`any(${order_ids}::uuid[])`
  await samples.where('order_id', '=', isOneOf).execute()
  await fillers.where('order_id', '=', isOneOf).execute()
}

export async function deleteSamplesOfTeam(db: Db, team_id: string) {
  const { samples, fillers } = await numbersOf(db, team_id)
  await samples.execute()
  await fillers.execute()
}

/** On Citus, the numbers of a team are on every worker, and only a sequential delete may precede other writes of the transaction. */
async function numbersOf(db: Db, team_id: string) {
  await setLocally(db, { 'citus.multi_shard_modify_mode': 'sequential' })
  return {
    samples: db.deleteFrom('lab_samples').where('team_id', '=', team_id),
    fillers: db.deleteFrom('lab_fillers').where('team_id', '=', team_id),
  }
}
