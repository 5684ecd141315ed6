import { expect, test } from 'vitest'
import { BREAKER_THRESHOLD } from '../../src/delivery/webhooks/rules-health.ts'
import { claimLanes } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { HOUR, later } from '../../src/platform/time.ts'
import { aWebhook, emitTo } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { query, runningStatements, runUncommitted } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const { app, url, tenant } = await replica()

/** Creates a webhook with an empty token bucket at `start` and 40 pending lanes, and returns a claim function that never settles. */
async function setUp(rate_limit: number | undefined, failures = 0, pausedMs = 0) {
  const team = await tenant()
  const { id } = await aWebhook(team, '/', rate_limit ? { rate_limit } : {})
  await emitTo(
    app,
    team.team_id,
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
  const share = { worker: newUuid(), limit: 100, per_webhook: 30, messages_per_lane: 8, breaker_threshold: BREAKER_THRESHOLD }
  const claim = async (ms: number) => {
    const now = later(start, ms)
    return (await claimLanes(app.db, team.team_id, { webhook_ids: [id], now, lease: newUuid(), ...share })).length
  }
  return { team_id: team.team_id, claim }
}

const claimAt = async (claim: (ms: number) => Promise<number>, moments: number[]) => {
  const claimed: number[] = []
  for (const ms of moments) claimed.push(await claim(ms))
  return claimed
}

test('keeps the rate limit while earlier requests have no response yet', async () => {
  const { claim } = await setUp(5)
  expect(await claimAt(claim, [0, 199, 200, 200, 600, 1000])).toEqual([0, 0, 1, 0, 2, 2])
})

test('keeps the rate limit when two workers claim at the same time', async () => {
  const { team_id, claim } = await setUp(5)
  const commit = await runUncommitted(url, 'select from webhooks where team_id = $1 for no key update', [team_id])
  const claims = Promise.all([claim(1000), claim(1000)])
  await eventually(async () => (await runningStatements(url, 'claim_lanes')).length === 2)
  await commit()
  expect((await claims).toSorted()).toEqual([0, 5])
})

test('saves up at most one second of unused rate', async () => {
  const { claim } = await setUp(5)
  expect(await claimAt(claim, [60_000, 60_000, 60_400])).toEqual([5, 0, 2])
})

test('claims at most the share of a webhook at once, whatever its rate limit', async () => {
  expect(await claimAt((await setUp(1000)).claim, [1000, 2000])).toEqual([30, 0])
  expect(await claimAt((await setUp(undefined)).claim, [0, 1000])).toEqual([30, 0])
})

test('sends one message at a time to a failing webhook, whatever its rate limit', async () => {
  expect(await claimAt((await setUp(5, BREAKER_THRESHOLD - 1)).claim, [1000])).toEqual([5])
  expect(await claimAt((await setUp(5, BREAKER_THRESHOLD)).claim, [1000, 2000])).toEqual([1, 0])
})

test('sends nothing to a paused webhook, then one message after the pause', async () => {
  expect(await claimAt((await setUp(undefined, BREAKER_THRESHOLD, 15_000)).claim, [0, 14_999, 15_000, 20_000])).toEqual([0, 0, 1, 0])
})
