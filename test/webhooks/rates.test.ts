import { expect, test } from 'vitest'
import { SUSPECT } from '../../src/delivery/webhooks/rules-health.ts'
import { claimLanes } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { HOUR, later } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aWebhook, emitTo } from '../support/lanes.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const { app, url, tenant } = await replica()

/** A webhook whose bucket is empty at `start`, with forty lanes that wait, and a worker that claims and settles nothing. */
async function begin(rate_limit: number | undefined, failures = 0, pausedMs = 0) {
  const one = await tenant()
  const { id } = await aWebhook(one, '/', rate_limit ? { rate_limit } : {})
  await emitTo(
    app,
    one.team_id,
    Array.from({ length: 40 }, (_, i) => `key-${i}`),
  )
  const start = later(app.wall(), HOUR)
  const paused_until = pausedMs ? later(start, pausedMs) : null
  await query(url, 'update webhooks set tokens = 0, tokens_at = $2, failures = $3, paused_until = $4 where id = $1', [
    id,
    start,
    failures,
    paused_until,
  ])
  const share = { worker: 1, most: 100, each: 30, in_a_row: 8, suspect: SUSPECT }
  return async (ms: number) => {
    const now = later(start, ms)
    return (await claimLanes(app.db, { webhook_ids: [id], now, lease: newUuid(), until: later(now, HOUR), ...share })).length
  }
}

const inTurn = async (claim: (ms: number) => Promise<number>, moments: number[]) => {
  const taken: number[] = []
  for (const ms of moments) taken.push(await claim(ms))
  return taken
}

test('a rate is kept however slowly the receiver answers: what has no answer yet takes nothing from it', async () => {
  const claim = await begin(5)
  expect(await inTurn(claim, [0, 199, 200, 200, 600, 1000])).toEqual([0, 0, 1, 0, 2, 2])
})

test('rest saves up no more than a second', async () => {
  const claim = await begin(5)
  expect(await inTurn(claim, [60_000, 60_000, 60_400])).toEqual([5, 0, 2])
})

test('nobody gets more than its share at once, however high its rate is', async () => {
  expect(await inTurn(await begin(1000), [1000, 2000])).toEqual([30, 0])
  expect(await inTurn(await begin(undefined), [0, 1000])).toEqual([30, 0])
})

test('a webhook that fails is tried with one message at a time, whatever its rate is', async () => {
  expect(await inTurn(await begin(5, SUSPECT - 1), [1000])).toEqual([5])
  expect(await inTurn(await begin(5, SUSPECT), [1000, 2000])).toEqual([1, 0])
})

test('a webhook that rests is tried with nothing, and then with one message alone', async () => {
  expect(await inTurn(await begin(undefined, SUSPECT, 15_000), [0, 14_999, 15_000, 20_000])).toEqual([0, 0, 1, 0])
})
