import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { aNight, aSample, aWorkout, pushSummary, userEvents } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const window = { start_date: '2026-02-28', end_date: '2026-03-04' }
const versions = ['2026-03-03T02:00:00Z', '2026-03-03T03:00:00Z', '2026-03-03T04:00:00Z'] as const

const recorded = {
  source_type: fc.constantFrom('watch', 'phone'),
  source_bundle: fc.constantFrom('com.harbor.one', 'com.harbor.two'),
  modified_at: fc.constantFrom(...versions),
}

const workouts = fc
  .record({
    ...recorded,
    id: fc.constantFrom('run-1', 'run-2'),
    calories: fc.integer({ min: 1, max: 2 }),
    day: fc.constantFrom('01', '02'),
  })
  .map(({ day, ...workout }) => ({
    resource: 'workouts' as const,
    data: [aWorkout({ ...workout, start_date: `2026-03-${day}T18:00:00Z`, end_date: `2026-03-${day}T18:30:00Z` })],
  }))

const nights = fc
  .record({ ...recorded, score: fc.integer({ min: 1, max: 2 }) })
  .map((night) => ({ resource: 'sleep' as const, data: [aNight(night)] }))

const bodies = fc
  .record({
    ...recorded,
    at: fc.constantFrom('2026-03-01T07:00:00Z', '2026-03-01T19:00:00Z'),
    field: fc.constantFrom('body_mass', 'body_fat_percentage'),
    value: fc.integer({ min: 60, max: 62 }),
  })
  .map(({ at, field, value, modified_at, ...by }) => ({
    resource: 'body' as const,
    data: [{ ...by, modified_at, [field]: [aSample(at, value, { modified_at })] }],
  }))

const pushes = fc.array(fc.oneof(workouts, nights, bodies), { minLength: 2, maxLength: 6 })

test('versions of summaries reach the same state in any order, with repeats, and events match reads', async () => {
  const cases = pushes.chain((original) =>
    fc.record({
      original: fc.constant(original),
      shuffled: fc.shuffledSubarray([...original, ...original], { minLength: original.length * 2 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(cases, async ({ original, shuffled }) => {
      const [user, otherUser] = [await aUser(w.api), await aUser(w.api)]
      for (const { resource, data } of original) await pushSummary(w.api, user, resource, data)
      for (const { resource, data } of shuffled) await pushSummary(w.api, otherUser, resource, data)
      const [first, second] = [await read(user), await read(otherUser)]
      expect(await replayEvents(user)).toEqual(first)
      expect(await replayEvents(otherUser)).toEqual(second)
      expect(second.map(content).sort()).toEqual(first.map(content).sort())
    }),
    { numRuns: 8 },
  )
})

test('a changed source type counts as an update', async () => {
  const user_id = await aUser(w.api)
  await pushSummary(w.api, user_id, 'workouts', [aWorkout({ source_type: 'phone' })])
  expect(await pushSummary(w.api, user_id, 'workouts', [aWorkout({ source_type: 'watch' })])).toMatchObject({ updated: 1 })
  expect((await replayEvents(user_id))[0]).toMatchObject({ source: { type: 'watch' } })
})

test('an older version in the same push changes neither the date nor the source of a summary', async () => {
  const user_id = await aUser(w.api)
  const moved = { start_date: '2026-03-01T18:00:00Z', end_date: '2026-03-01T18:30:00Z', source_type: 'phone', modified_at: versions[0] }
  await pushSummary(w.api, user_id, 'workouts', [
    aWorkout({ start_date: '2026-03-03T01:00:00Z', end_date: '2026-03-03T01:30:00Z', modified_at: versions[1] }),
    aWorkout(moved),
  ])
  const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: { start_date: '2026-03-03', end_date: '2026-03-03' } })
  expect(workouts).toMatchObject([{ calendar_date: '2026-03-03', source: { type: 'watch' } }])
})

test('the source type is not readable in the database', async () => {
  const user_id = await aUser(w.api)
  const own = { source_type: 'wheelchair of Odile', product_type: 'Tidemark 2' }
  await pushSummary(w.api, user_id, 'workouts', [aWorkout(own)])
  await pushSummary(w.api, user_id, 'activity', { ...own, day_summary: { date: '2026-03-01', steps_sum: 1 } })
  const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: window })
  expect(workouts[0]?.source.type).toBe('wheelchair of Odile')
  for (const table of ['summaries', 'devices']) {
    const rows = await query(w.url, `select source_type from ${table} where user_id = $1`, [user_id])
    expect(JSON.stringify(rows)).not.toContain('Odile')
  }
})

test('the last measurement of a day counts, whichever arrives first', async () => {
  const user_id = await aUser(w.api)
  const pushWeight = (at: string, value: number) => pushSummary(w.api, user_id, 'body', { body_mass: [aSample(at, value)] })
  await pushWeight('2026-03-01T19:00:00Z', 71)
  expect(await pushWeight('2026-03-01T07:00:00Z', 70)).toMatchObject({ created: 1, stale: 1 })
  expect((await w.api.listBody({ params: { user_id }, query: window })).body).toMatchObject([{ weight: 71 }])
  await pushWeight('2026-03-01T19:00:00Z', 72)
  expect((await w.api.listBody({ params: { user_id }, query: window })).body).toMatchObject([{ weight: 72 }])
})

test('events carry every kind of summary as reads return it', async () => {
  const user_id = await aUser(w.api)
  const request = { params: { user_id }, query: window }
  const by = { source_type: 'watch', source_bundle: 'com.harbor.one', product_type: 'Tidemark 2' }
  const recording = { session_start: '2026-03-01T09:00:00Z', session_end: '2026-03-01T09:01:00Z', voltage_sample_count: 60 }
  await pushSummary(w.api, user_id, 'activity', { ...by, day_summary: { date: '2026-03-01', steps_sum: 3 } })
  await pushSummary(w.api, user_id, 'meal', { ...by, name: 'Soup', timestamp: '2026-03-01T12:00:00Z' })
  await pushSummary(w.api, user_id, 'menstrual_cycle', { ...by, period_start: '2026-03-01' })
  await pushSummary(w.api, user_id, 'electrocardiogram', { ...by, ...recording })
  await pushSummary(w.api, user_id, 'profile', { ...by, height: 171 })
  const read = await Promise.all([
    w.api.listActivity(request).then(({ activity }) => activity[0]),
    w.api.listMeals(request).then(({ meals }) => meals[0]),
    w.api.listMenstrualCycles(request).then(({ menstrual_cycle }) => menstrual_cycle[0]),
    w.api.listElectrocardiograms(request).then(({ electrocardiogram }) => electrocardiogram[0]),
    w.api.getProfile({ params: { user_id } }),
  ])
  const events = (await userEvents(w.app, w.team_id, user_id)).filter(({ event_type }) => event_type.startsWith('daily.'))
  expect(events.map(({ data }) => data)).toEqual(read)
})

type Summary = Record<string, unknown> & { id: string }

/** The state of a customer who replaces each summary by the event with the same ID. */
async function replayEvents(user_id: string) {
  const summaries = new Map<string, Summary>()
  for (const { event_type, data } of await userEvents(w.app, w.team_id, user_id))
    if (/\.(workouts|sleep|sleep_cycle|body)\./.test(event_type)) summaries.set(data['id'] as string, data as unknown as Summary)
  return [...summaries.values()].sort(byId)
}

async function read(user_id: string) {
  const request = { params: { user_id }, query: window }
  const [{ workouts }, { sleep }, { sleep_cycle }, { body }] = await Promise.all([
    w.api.listWorkouts(request),
    w.api.listSleep(request),
    w.api.listSleepCycles(request),
    w.api.listBody(request),
  ])
  return ([...workouts, ...sleep, ...sleep_cycle, ...body] as Summary[]).sort(byId)
}

const byId = (a: Summary, b: Summary) => (a.id < b.id ? -1 : 1)

/** Removes fields that depend on the user or the time of arrival. */
const content = ({ id: _, user_id: __, sleep_id: ___, created_at: ____, updated_at: _____, ...rest }: Summary) => JSON.stringify(rest)
