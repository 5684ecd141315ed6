import { expect, test } from 'vitest'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { signIn } from '../support/console.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const byItself = { 'x-assay-background': '1' }

/** A page of the console, and how many audit rows each of its requests leaves. */
async function aPage(one: Awaited<ReturnType<typeof world>>) {
  const { forTeam } = await signIn(one.base, { management_key: one.management_key })
  const { send } = forTeam(one.team_id)
  return async (row: Row, sent: { params?: object; query?: object } = {}, headers: Record<string, string> = byItself) => {
    const request_id = newUuid()
    const { status } = await send(row, { ...sent, headers: { ...headers, 'x-request-id': request_id } })
    const rows = await query<{ subject: string | null }>(one.url, 'select subject from audit_log where request_id = $1', [request_id])
    return { status, rows: rows.length, subject: rows[0]?.subject }
  }
}

test('a page that refreshes itself is written down once in a quarter of an hour; whoever asks, every time', async () => {
  const one = await world()
  const ask = await aPage(one)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 1 })
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 0 })
  expect(await ask(endpoints.getOverview, {}, {})).toMatchObject({ status: 200, rows: 1 })
  one.advanceTime(14 * MINUTE)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 0 })
  one.advanceTime(2 * MINUTE)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 1 })
})

test('what a person opened stands for the refreshes of it, in this session only', async () => {
  const one = await world()
  const { user_id } = await one.api.createUser({ body: { client_user_id: 'looked-at' } })
  const [ask, other] = [await aPage(one), await aPage(one)]
  const sent = { params: { user_id } }
  expect(await ask(endpoints.getUser, sent, {})).toMatchObject({ rows: 1 })
  expect(await ask(endpoints.getUser, sent)).toMatchObject({ rows: 0 })
  expect(await other(endpoints.getUser, sent)).toMatchObject({ rows: 1, subject: `user_id:${user_id}` })
})

test('somebody who is shown for the first time is named', async () => {
  const one = await world()
  const ask = await aPage(one)
  const first = await one.api.createUser({ body: { client_user_id: 'first' } })
  expect(await ask(endpoints.listUsers)).toMatchObject({ rows: 1, subject: `user_id:${first.user_id}` })
  expect(await ask(endpoints.listUsers)).toMatchObject({ rows: 0 })
  const second = await one.api.createUser({ body: { client_user_id: 'second' } })
  const { rows, subject } = await ask(endpoints.listUsers)
  expect([rows, subject?.split(' ').sort()]).toEqual([1, [first, second].map(({ user_id }) => `user_id:${user_id}`).sort()])
})

test('what is revealed and what is refused is written every time', async () => {
  const one = await world()
  const ask = await aPage(one)
  const { user_id } = await one.api.createUser({ body: { client_user_id: 'revealed' } })
  for (const _ of [1, 2])
    expect(await ask(endpoints.getUser, { params: { user_id } }, { ...byItself, 'x-assay-reveal': 'a callback' })).toMatchObject({
      status: 200,
      rows: 1,
    })
  for (const _ of [1, 2]) expect(await ask(endpoints.getUser, { params: { user_id: newUuid() } })).toMatchObject({ status: 404, rows: 1 })
})

test('a key hides nothing by the header', async () => {
  const { url, api, team_api_key, base } = await world()
  const { user_id } = await api.createUser({ body: { client_user_id: 'by-key' } })
  for (const _ of [1, 2]) {
    const request_id = newUuid()
    await fetch(`${base}/v2/user/${user_id}`, { headers: { ...byItself, 'x-service-api-key': team_api_key, 'x-request-id': request_id } })
    expect(await query(url, 'select id from audit_log where request_id = $1', [request_id])).toHaveLength(1)
  }
})
