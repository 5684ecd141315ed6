import { expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { tablesWith } from '../support/tables.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, replica, world } from '../support/world.ts'

const SECRET = 'k7f2qLw9ZbT4'

const w = await world({ env: fastPasswords })

test('somebody with a copy of the database finds no webhook URL in it, before and after a delivery', async () => {
  const receiver = await aReceiver()
  await w.startDelivery()
  const webhook = await aWebhook(w, { url: `${receiver.url}?token=${SECRET}1`, filter_types: null })
  await aUser(w.api)
  await receiver.has(1)
  await webhook.patch({ url: `${receiver.url}?token=${SECRET}2`, asymmetric: true })
  await aUser(w.api)
  const received = await receiver.has(2)
  expect(received.map(({ path }) => path)).toEqual([expect.stringContaining(`${SECRET}1`), expect.stringContaining(`${SECRET}2`)])
  expect((await webhook.get()).url).toBe(`${receiver.url}?token=${SECRET}2`)
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(2))
  expect(await tablesWith(w.url, SECRET)).toEqual([])
})

test.each(['http://127.0.0.1:9099/', 'http://[::1]:9099/', 'http://localhost:9099/', 'http://hooks.localhost:9099/'])(
  'a service that others can reach does not call %s, and names the setting that allows it',
  async (url) => {
    const receiver = { body: { url, disabled: true }, params: { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const } }
    const adminAt = (base: string) => createClient(base, { 'x-management-key': w.management_key })
    const open = await replica({ env: { HOST: '0.0.0.0' } })
    const refused = await errorOf(adminAt(open.base).createWebhook(receiver))
    expect(refused).toMatchObject({ status: 400, detail: { error_type: 'WEBHOOK_URL_REFUSED', reason: 'address' } })
    expect(JSON.stringify(refused.detail)).toContain('WEBHOOK_ALLOW_LOOPBACK=true')
    const allowed = await replica({ env: { HOST: '0.0.0.0', WEBHOOK_ALLOW_LOOPBACK: 'true' } })
    expect(await adminAt(allowed.base).createWebhook(receiver)).toMatchObject({ url })
    expect(await w.admin.createWebhook(receiver)).toMatchObject({ url })
  },
)

test.each([
  ['org_admin', true],
  ['team_admin', true],
  ['support', false],
  ['read_only', false],
] as const)('a person with the role %s sees the query of a webhook URL: %s', async (role, sees) => {
  const { org_id, team_id, admin } = w
  const team = { org_id, team_id, env: 'sandbox' as const }
  const receiver = await aReceiver()
  const url = `${receiver.url}?token=${SECRET}`
  const { id: webhook_id } = await admin.createWebhook({ params: team, body: { url, disabled: true } })
  const params = { ...team, webhook_id }
  await admin.sendWebhookExample({ params, body: { event_type: 'user.created' } })
  const [attempt] = (await admin.listWebhookAttempts({ params })).data
  const person = await joinOrganization(w, w, { role, ...(role === 'team_admin' ? { team_role_bindings: [{ team_id }] } : {}) })
  const read = async (row: Parameters<typeof person.send>[0], more: object = {}) => {
    const { status, body } = await person.forTeam(team_id).send(row, { params: { ...params, ...more } })
    expect(status).toBe(200)
    return JSON.stringify(body)
  }
  for (const text of [
    await read(endpoints.getWebhook),
    await read(endpoints.listWebhooks),
    await read(endpoints.getWebhookAttempt, { attempt_id: attempt?.id }),
  ]) {
    expect(text.includes(SECRET)).toBe(sees)
    expect(text).toContain(sees ? url : `${receiver.url}?•••`)
  }
  await admin.deleteWebhook({ params })
})
