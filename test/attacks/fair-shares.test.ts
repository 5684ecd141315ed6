import pg from 'pg'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

const w = await world({ poolSize: 10 })
const other = await w.tenant({ org: 'Meadow Care', team: 'Meadow' })

/** Locks a user until the returned function is called. */
async function lockUser(user_id: string) {
  const client = await new pg.Client(w.url).connect()
  atEnd(() => client.end())
  await client.query('begin')
  await client.query('select from users where team_id = $1 and user_id = $2 for update', [w.team_id, user_id])
  return () => client.query('rollback')
}

test('a team whose requests hold every connection they can get does not stop another team', async () => {
  const user_id = await aUser(w.api)
  const unlock = await lockUser(user_id)
  let finished = 0
  const held = Array.from({ length: 40 }, () =>
    w.api.patchUser({ params: { user_id }, body: { fallback_time_zone: 'Europe/Berlin' } }).then(() => finished++),
  )
  const waiting = await eventually(async () => {
    const found = (await lockWaits(w.url)).length
    return found >= 4 ? found : undefined
  })
  expect(waiting).toBeLessThan(w.poolSize())

  const created = await aUser(other.api)
  await other.api.patchUser({ params: { user_id: created }, body: { fallback_time_zone: 'Europe/Berlin' } })
  expect((await other.api.listUsers()).users.map((user) => user.user_id)).toEqual([created])
  expect(finished).toBe(0)

  await unlock()
  await Promise.all(held)
  expect(finished).toBe(40)
})
