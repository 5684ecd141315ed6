import { expect, test } from 'vitest'
import { numberEvents } from '../../src/delivery/events/log.ts'
import { logRef, webhookRef } from '../../src/platform/webhook-ref.ts'
import { numberAllEvents } from '../support/events.ts'
import { aWebhook, emitTo } from '../support/lanes.ts'
import { query, runUncommitted } from '../support/query.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

const numbersOf = async (team_id: string) =>
  (await query<{ no: number | null }>(url, 'select no from events where team_id = $1 order by seq', [team_id])).map(({ no }) => no)

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

test('numbers the events of each team from 1, and a busy team does not delay the others', async () => {
  const [busy, quiet] = [await w.tenant(), await w.tenant()]
  await emitTo(app, busy.team_id, Array(1010).fill('a'))
  await emitTo(app, quiet.team_id, ['a', 'b'])
  expect(await numberEvents(app)).toBe(true)
  expect(await numbersOf(quiet.team_id)).toEqual([1, 2])
  expect(await numbersOf(busy.team_id)).toEqual([...upTo(1000), ...Array(10).fill(null)])
  expect(await numberEvents(app)).toBe(false)
  expect(await numbersOf(busy.team_id)).toEqual(upTo(1010))
})

test('a team whose events are locked does not delay the others, and is numbered later', async () => {
  const [stuck, quiet] = [await w.tenant(), await w.tenant()]
  await emitTo(app, stuck.team_id, ['a', 'a'])
  await emitTo(app, quiet.team_id, ['a', 'a'])
  const commit = await runUncommitted(url, 'select from events where team_id = $1 for update', [stuck.team_id])
  expect(await numberEvents(app)).toBe(false)
  expect(await numbersOf(quiet.team_id)).toEqual([1, 2])
  expect(await numbersOf(stuck.team_id)).toEqual([null, null])
  await commit()
  await numberAllEvents(app)
  expect(await numbersOf(stuck.team_id)).toEqual([1, 2])
})

test('continues the numbers when several processes number at the same time', async () => {
  const { team_id } = await w.tenant()
  const others = [await replica(), await replica()]
  for (let round = 0; round < 5; round++) {
    await emitTo(app, team_id, Array(20).fill('a'))
    await Promise.all([app, ...others.map((other) => other.app)].map((app) => numberEvents(app, new Set([team_id]))))
  }
  await numberAllEvents(app)
  expect(await numbersOf(team_id)).toEqual(upTo(100))
})

test('numbers events that were logged after the clock of the server went back', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['a'])
  await numberAllEvents(app)
  await query(url, "update event_logs set complete_before = now() + interval '1 day' where team_id = $1", [team_id])
  await emitTo(app, team_id, ['a', 'a'])
  for (let turn = 0; turn < 2; turn++) await numberEvents(app)
  expect(await numbersOf(team_id)).toEqual([1, 2, 3])
})

test('an event wakes delivery and numbering, and a strict webhook wakes the numbering first', async () => {
  const tenant = await w.tenant()
  const { team_id } = tenant
  const woken: string[] = []
  const recording = { ...app, wake: (job: string, about: Iterable<string> = []) => void woken.push(job, ...about) }
  const { id } = await aWebhook(tenant, '/')
  await emitTo(recording, team_id, ['a'])
  expect(woken.splice(0)).toEqual(['deliver', webhookRef(team_id, id), logRef(team_id)])
  await aWebhook(tenant, '/', { ordering: 'strict' })
  await emitTo(recording, team_id, ['a', 'b'])
  expect(woken.splice(0)).toEqual([
    ...['deliver', webhookRef(team_id, id)],
    ...[`${team_id}/00000000-0000-0000-0000-000000000000`, logRef(team_id)],
  ])
})

test('ignores a team that was erased after it was woken', async () => {
  const { team_id } = await w.tenant()
  await query(url, 'delete from teams where id = $1', [team_id])
  expect(await numberEvents(app, new Set([team_id]))).toBe(false)
})
