import { expect, test } from 'vitest'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

const up = (to: number) => Array.from({ length: to }, (_, n) => n + 1)

test('five slow webhooks leave room for the others of their team', async () => {
  const team = await delivery.team()
  const response = Promise.withResolvers<Outcome>()
  for (const _ of up(5)) await team.webhook({ ordering: 'strict' }, () => response.promise)
  await team.emit(...up(400).map((n) => `key ${n}`))
  await team.isLogged(400)
  const webhook = await team.webhook()
  await team.emit(...up(50).map((n) => `more ${n}`))
  await webhook.has(50)
  response.resolve(ok)
})

test('the probe after a pause is the oldest message', async () => {
  const team = await delivery.team()
  const responses: PromiseWithResolvers<Outcome>[] = []
  const webhook = await team.webhook({}, () => {
    const response = Promise.withResolvers<Outcome>()
    responses.push(response)
    return response.promise
  })
  await team.emit(...up(10).map((n) => `key ${n}`))
  await webhook.has(10)
  for (const response of responses.toReversed()) response.resolve(outcome(503))
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(10))
  webhook.respond(() => ok)
  team.pass(20 * SECOND)
  await webhook.settled()
  expect(webhook.numbers()[10]).toBe(1)
})
