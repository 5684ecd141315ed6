import pg from 'pg'
import { expect, test } from 'vitest'
import { keepDays } from '../../src/delivery/webhooks/repair/retention.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aWebhook, emitTo, waitingFor } from '../support/lanes.ts'
import { atEnd, replica } from '../support/world.ts'

const one = await replica()
const { app, url } = one

const nameOf = (parent: string, at: string) => `${parent}_${at.slice(0, 10).replaceAll('-', '')}`
const isThere = async (name: string) => (await query(url, 'select from pg_class where relname = $1', [name])).length === 1

test('whoever reads the log for long keeps a day of it from being made or dropped, and nobody from writing', async () => {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/')
  const old = later(app.wall(), -100 * DAY)
  await query(url, `select make_partition('events', $1::date)`, [old])
  one.passes(2 * DAY)
  const next = later(app.wall(), 3 * DAY)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  atEnd(() => reader.end())
  await reader.query('begin; select count(*) from events')

  await Promise.all([keepDays(app), emitTo(app, tenant.team_id, ['a'])])
  expect(await waitingFor(url, [id])).toBe(1)
  expect([await isThere(nameOf('events', old)), await isThere(nameOf('events', next))]).toEqual([true, false])

  await reader.query('commit')
  await keepDays(app)
  expect([await isThere(nameOf('events', old)), await isThere(nameOf('events', next))]).toEqual([false, true])
  expect(await isThere(nameOf('attempts', next))).toBe(true)
})
