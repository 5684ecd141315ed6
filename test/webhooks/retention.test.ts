import pg from 'pg'
import { expect, test } from 'vitest'
import { applyRetention } from '../../src/delivery/webhooks/repair/retention.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, emitTo } from '../support/delivery.ts'
import { moveAllEvents } from '../support/events.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { asTest, query, runUncommitted } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { newSandboxDatabase, replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

const nameOf = (parent: string, at: string) => `${parent}_${at.slice(0, 10).replaceAll('-', '')}`
const tableExists = async (name: string) => (await query(url, 'select from pg_class where relname = $1', [name])).length === 1

test('postpones creating and dropping event partitions during a long read without blocking writes', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/')
  const old = later(app.wall(), -100 * DAY)
  await query(url, `select make_partition('events', $1::date)`, [old])
  w.advanceTime(2 * DAY)
  const next = later(app.wall(), 3 * DAY)
  const reader = new pg.Client(asTest(url))
  await reader.connect()
  atEnd(() => reader.end())
  await reader.query('begin; select count(*) from events')

  await Promise.all([applyRetention(app), emitTo(app, tenant.team_id, ['a'])])
  expect(await countPending(url, [id])).toBe(1)
  expect([await tableExists(nameOf('events', old)), await tableExists(nameOf('events', next))]).toEqual([true, false])

  await reader.query('commit')
  await applyRetention(app)
  expect([await tableExists(nameOf('events', old)), await tableExists(nameOf('events', next))]).toEqual([false, true])
  expect(await tableExists(nameOf('attempts', next))).toBe(true)
})

test('continues if another process creates a partition at the same time', async () => {
  w.advanceTime(10 * DAY)
  const commit = await runUncommitted(url, "select make_partition('events', $1::date)", [app.wall()])
  let isDone = false
  const applied = applyRetention(app).finally(() => {
    isDone = true
  })
  await eventually(async () => isDone || (await lockWaits(url)).length)
  await commit()
  await applied
  await applyRetention(app)
  expect(await tableExists(nameOf('events', later(app.wall(), DAY)))).toBe(true)
})

test('deletes events after EVENT_RETENTION_DAYS, with their payloads', async () => {
  const kept = await replica({ database: await newSandboxDatabase(), env: { EVENT_RETENTION_DAYS: '3' } })
  const { api } = await kept.tenant()
  await aUser(api)
  await moveAllEvents(kept.app)
  const [event] = await query<{ day: string }>(kept.url, "select to_char(logged_at at time zone 'utc', 'YYYY-MM-DD') as day from events")
  const eventTypesAfter = async (days: number) => {
    kept.setTime(later(`${event?.day}T12:00:00Z`, days * DAY))
    await kept.runJobs()
    return (await api.listEvents({ query: {} })).events.map(({ event_type }) => event_type)
  }
  expect(await eventTypesAfter(3)).toEqual(['user.created'])
  expect(await eventTypesAfter(4)).toEqual([])
  expect(await query(kept.url, 'select 1 as row from events')).toEqual([])
})
