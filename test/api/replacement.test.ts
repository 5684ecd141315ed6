import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { aUser } from '../support/users.ts'
import { push, pushSummary, userEvents } from '../support/wearables.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const window = { start_date: '2026-03-01', end_date: '2026-03-03' }

/** Few timestamps, values and versions around midnight, so that they collide. */
const aSample = fc.record({
  start_date: fc.constantFrom('2026-03-01T23:58:00Z', '2026-03-01T23:59:00Z', '2026-03-02T00:00:00Z'),
  end_date: fc.constantFrom('2026-03-02T00:30:00Z', '2026-03-02T01:00:00Z'),
  type: fc.constantFrom('watch', 'phone', 'unknown', undefined),
  value: fc.integer({ min: 0, max: 3 }),
  modified_at: fc.constantFrom(undefined, '2026-03-02T02:00:00Z', '2026-03-02T03:00:00Z', '2026-03-02T04:00:00Z'),
})

const aDay = fc.record({
  day_summary: fc.record({ date: fc.constantFrom('2026-03-01', '2026-03-02'), steps_sum: fc.integer({ min: 0, max: 3 }) }),
  modified_at: fc.constantFrom(undefined, '2026-03-02T02:00:00Z', '2026-03-02T03:00:00Z'),
})

const pushes = fc.array(
  fc.oneof(
    fc.record({ samples: fc.array(aSample, { maxLength: 5 }), provider: fc.constantFrom('oura', 'manual') }),
    fc.record({ days: fc.array(aDay, { maxLength: 2 }), provider: fc.constantFrom('oura', 'manual') }),
  ),
  { minLength: 1, maxLength: 6 },
)

test('replaying the events gives the same data as reading it', async () => {
  await fc.assert(
    fc.asyncProperty(pushes, async (pushes) => {
      const user_id = await aUser(w.api)
      for (const { provider, ...input } of pushes)
        if ('samples' in input) await push(w.api, user_id, 'steps', input.samples, { provider })
        else await pushSummary(w.api, user_id, 'activity', input.days, { provider })
      expect(await replayEvents(user_id)).toEqual(await read(user_id))
    }),
    { numRuns: 25 },
  )
})

test('a newer version of the same content changes neither reads nor events', async () => {
  const user_id = await aUser(w.api)
  const day = { day_summary: { date: '2026-03-01', steps_sum: 3 } }
  await pushSummary(w.api, user_id, 'activity', [{ ...day, modified_at: '2026-03-02T02:00:00Z' }])
  const first = await read(user_id)
  w.advanceTime(60_000)
  await pushSummary(w.api, user_id, 'activity', [{ ...day, modified_at: '2026-03-02T03:00:00Z' }])
  expect(await read(user_id)).toEqual(first)
  expect(await replayEvents(user_id)).toEqual(first)
})

test('versions of samples reach the same state in any order, with repeats, and events match reads', async () => {
  const versioned = fc.array(
    aSample.map((sample) => ({ ...sample, modified_at: sample.modified_at ?? '2026-03-02T01:00:00Z' })),
    { minLength: 2, maxLength: 6 },
  )
  const cases = versioned.chain((samples) =>
    fc.record({
      samples: fc.constant(samples),
      shuffled: fc.shuffledSubarray([...samples, ...samples], { minLength: samples.length * 2 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(cases, async ({ samples, shuffled }) => {
      const [user, otherUser] = [await aUser(w.api), await aUser(w.api)]
      await push(w.api, user, 'steps', samples)
      for (const sample of shuffled) await push(w.api, otherUser, 'steps', [sample])
      expect((await read(otherUser)).samples).toEqual((await read(user)).samples)
      expect((await replayEvents(otherUser)).samples).toEqual((await read(user)).samples)
    }),
    { numRuns: 12 },
  )
})

/** The state of a customer who replaces summaries by ID and samples by resource, provider, source type and timestamp. */
async function replayEvents(user_id: string) {
  const samples = new Map<string, unknown>()
  const activity = new Map<string, Record<string, unknown>>()
  for (const { event_type, data } of await userEvents(w.app, w.team_id, user_id)) {
    const { slug, type } = (data['source'] ?? {}) as { slug?: string; type?: string }
    if (event_type.includes('.steps.')) for (const sample of data.data) samples.set(`${slug} ${type} ${sample['timestamp']}`, sample)
    if (event_type.includes('.activity.')) activity.set(data['id'] as string, data)
  }
  return { samples: sortByKey(samples), activity: [...activity.values()].sort(byId) }
}

async function read(user_id: string) {
  const { groups } = await w.api.listSamples({ params: { user_id, resource: 'steps' }, query: window })
  const samples = new Map<string, unknown>()
  const all = Object.entries(groups).flatMap(([slug, list]) =>
    list.flatMap(({ source, data }) => data.map((sample) => [`${slug} ${source.type} ${sample.timestamp}`, sample] as const)),
  )
  for (const [key, sample] of all) samples.set(key, sample)
  expect(samples.size).toBe(all.length)
  const { activity } = await w.api.listActivity({ params: { user_id }, query: window })
  return { samples: sortByKey(samples), activity: activity.toSorted(byId) }
}

const sortByKey = (samples: Map<string, unknown>) => Object.fromEntries([...samples].sort(([a], [b]) => (a < b ? -1 : 1)))
const byId = (a: Record<string, unknown>, b: Record<string, unknown>) => (String(a['id']) < String(b['id']) ? -1 : 1)
