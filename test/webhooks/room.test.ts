import { test } from 'vitest'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { ok } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
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
