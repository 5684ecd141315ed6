import pg from 'pg'
import { expect, test } from 'vitest'
import { SECOND } from '../../src/platform/time.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { directUrl } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

const w = await world()

test('a request that loses a deadlock against a migration is served afterwards', async () => {
  const user_id = await aUser(w.api)
  const migration = new pg.Client({ connectionString: directUrl(w.url) })
  await migration.connect()
  await migration.query('begin; lock table teams in access exclusive mode')
  // The process knows the caller for a second.
  w.advanceTime(SECOND)
  const request = w.api.getUser({ params: { user_id } })
  await eventually(async () => (await lockWaits(w.url)).length)
  // The server fails the one that waited first, which is the request unless the machine stalls.
  await migration.query('lock table team_api_keys in access exclusive mode').catch(() => {})
  await migration.end()
  expect((await request).user_id).toBe(user_id)
})
