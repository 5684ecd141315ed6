import { expect, test } from 'vitest'
import { lockWaits } from '../support/lock-waits.ts'
import { aNewOrder } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { runUncommitted } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { fileDatabase, world } from '../support/world.ts'

const relay = await openRelay(await fileDatabase())
const w = await world({ database: relay.url })

test('a push without a conflict takes two round trips to the database', async () => {
  w.stopTime()
  const user_id = await aUser(w.api)
  const pushAt = (minute: number) => push(w.api, user_id, 'heartrate', [aSample(`2026-03-01T08:0${minute}:00Z`, 60 + minute)])
  // The first ones open connections and connect the source.
  for (const minute of [0, 1, 2]) await pushAt(minute)
  const before = relay.roundTrips()
  expect(await pushAt(3)).toMatchObject({ created: 1 })
  expect(relay.roundTrips() - before).toBe(2)
})

test('a push whose day another writer changes meanwhile reads it once more', async () => {
  w.stopTime()
  const user_id = await aUser(w.api)
  const pushAt = (minute: number) => push(w.api, user_id, 'heartrate', [aSample(`2026-03-01T08:0${minute}:00Z`, 60 + minute)])
  for (const minute of [0, 1, 2]) await pushAt(minute)
  const pushAgainst = async (minute: number) => {
    const commit = await runUncommitted(w.url, 'update sample_days set revision = revision + 1 where user_id = $1', [user_id])
    const before = relay.roundTrips()
    const pushed = pushAt(minute)
    // A shared connection waits for a shorter time, so this is the statement on a connection of its own.
    await eventually(async () => (await lockWaits(w.url)).some(({ seconds }) => seconds > 0.15))
    await commit()
    return [(await pushed).created, relay.roundTrips() - before]
  }
  // The first one opens the connection for statements that wait.
  await pushAgainst(3)
  // Two reads, and three writes: one gives up waiting, one finds the change, and one succeeds.
  expect(await pushAgainst(4)).toEqual([1, 5])
})

test('an order takes two round trips to the database, and a read two with its audit row', async () => {
  w.stopTime()
  const body = await aNewOrder(w.api)
  const order = await w.api.createOrder({ body })
  const params = { order_id: order.order.id }
  await w.api.getOrder({ params })
  const [start, placed] = [relay.roundTrips(), (await w.api.createOrder({ body })) && relay.roundTrips()]
  await w.api.getOrder({ params })
  expect([placed - start, relay.roundTrips() - placed]).toEqual([2, 2])
})
