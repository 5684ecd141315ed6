import { expect, test } from 'vitest'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { signIn } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const inBackground = { 'x-assay-background': '1' }

const service = await replica()
const newInstance = async () => ({ ...service, ...(await service.tenant()) })

/** Signs in to the console and returns a function that sends a request and counts its audit rows. */
async function openPage(w: Awaited<ReturnType<typeof newInstance>>) {
  const { forTeam } = await signIn(w.base, { management_key: w.management_key })
  const { send } = forTeam(w.team_id)
  return async (row: Row, request: { params?: object; query?: object } = {}, headers: Record<string, string> = inBackground) => {
    const request_id = newUuid()
    const { status } = await send(row, { ...request, headers: { ...headers, 'x-request-id': request_id } })
    const rows = await query<{ subject: string | null }>(w.url, `select subject from ${auditRows} where request_id = $1`, [request_id])
    return { status, rows: rows.length, subject: rows[0]?.subject }
  }
}

test('audits background refreshes once per 15 minutes and user requests every time', async () => {
  const w = await newInstance()
  const ask = await openPage(w)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 1 })
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 0 })
  expect(await ask(endpoints.getOverview, {}, {})).toMatchObject({ status: 200, rows: 1 })
  w.advanceTime(14 * MINUTE)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 0 })
  w.advanceTime(2 * MINUTE)
  expect(await ask(endpoints.getOverview)).toMatchObject({ status: 200, rows: 1 })
})

test('does not audit a background refresh after a user request in the same session', async () => {
  const w = await newInstance()
  const { user_id } = await w.api.createUser({ body: { client_user_id: 'looked-at' } })
  const [ask, other] = [await openPage(w), await openPage(w)]
  const request = { params: { user_id } }
  expect(await ask(endpoints.getUser, request, {})).toMatchObject({ rows: 1 })
  expect(await ask(endpoints.getUser, request)).toMatchObject({ rows: 0 })
  expect(await other(endpoints.getUser, request)).toMatchObject({ rows: 1, subject: `user_id:${user_id}` })
})

test('audits a background refresh that shows a user for the first time', async () => {
  const w = await newInstance()
  const ask = await openPage(w)
  const first = await w.api.createUser({ body: { client_user_id: 'first' } })
  expect(await ask(endpoints.listUsers)).toMatchObject({ rows: 1, subject: `user_id:${first.user_id}` })
  expect(await ask(endpoints.listUsers)).toMatchObject({ rows: 0 })
  const second = await w.api.createUser({ body: { client_user_id: 'second' } })
  const { rows, subject } = await ask(endpoints.listUsers)
  expect([rows, subject?.split(' ').sort()]).toEqual([1, [first, second].map(({ user_id }) => `user_id:${user_id}`).sort()])
})

test('audits every reveal and every refused background request', async () => {
  const w = await newInstance()
  const ask = await openPage(w)
  const { user_id } = await w.api.createUser({ body: { client_user_id: 'revealed' } })
  for (const _ of [1, 2])
    expect(await ask(endpoints.getUser, { params: { user_id } }, { ...inBackground, 'x-assay-reveal': 'a callback' })).toMatchObject({
      status: 200,
      rows: 1,
    })
  for (const _ of [1, 2]) expect(await ask(endpoints.getUser, { params: { user_id: newUuid() } })).toMatchObject({ status: 404, rows: 1 })
})

test('ignores the background header of a request with an API key', async () => {
  const { url, api, team_api_key, base } = await newInstance()
  const { user_id } = await api.createUser({ body: { client_user_id: 'by-key' } })
  for (const _ of [1, 2]) {
    const request_id = newUuid()
    await fetch(`${base}/v2/user/${user_id}`, {
      headers: { ...inBackground, 'x-service-api-key': team_api_key, 'x-request-id': request_id },
    })
    expect(await query(url, `select id from ${auditRows} where request_id = $1`, [request_id])).toHaveLength(1)
  }
})
