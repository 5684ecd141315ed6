import { describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { encryptUrls } from '../../src/delivery/webhooks/urls.ts'
import { HOUR } from '../../src/platform/time.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { tablesWith } from '../support/tables.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const SECRET = 'k7f2qLw9ZbT4'
const CHANGE = '0012_webhook_urls.encrypted'
const MIGRATION = '0012_webhook_urls.sql'

const w = await world({ env: fastPasswords })
const urlColumn = async (id: string) => (await query<{ url: string }>(w.url, 'select url from webhooks where id = $1', [id]))[0]?.url

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

describe('an upgrade', () => {
  /** A webhook in the form of an earlier version, in a database that an earlier version created. */
  async function olderWebhook(url: string) {
    const { id } = await aWebhook(w, { url, filter_types: null })
    await query(w.url, 'delete from migrations where name = $1', [CHANGE])
    await w.admin.patchWebhook({ params: { org_id: w.org_id, team_id: w.team_id, env: 'sandbox', webhook_id: id }, body: { url } })
    expect(await urlColumn(id)).toBe(url)
    return id
  }
  const hasBegun = async () => (await query(w.url, 'select from migrations where name = $1', [CHANGE])).length === 1
  const older = async (seconds: number) =>
    query(w.url, `insert into processes values ($1, '0007_numbering.sql', now() + make_interval(secs => $2))`, [newUuid(), seconds])

  test('leaves URLs readable for processes of an earlier version, and for an hour, in which it can be rolled back', async () => {
    const id = await olderWebhook('https://shop.example/older')
    await encryptUrls(w.app)
    expect([await hasBegun(), await urlColumn(id)]).toEqual([false, 'https://shop.example/older'])
    w.advanceTime(2 * HOUR)
    await older(900)
    await encryptUrls(w.app)
    expect([await hasBegun(), await urlColumn(id)]).toEqual([false, 'https://shop.example/older'])
    await query(w.url, "delete from processes where newest = '0007_numbering.sql'")
  })

  test('encrypts them afterwards while messages are delivered, and an earlier version does not start anymore', async () => {
    const receiver = await aReceiver()
    const id = await olderWebhook(receiver.url)
    await aUser(w.api)
    await receiver.has(1)
    await older(-1)
    w.advanceTime(2 * HOUR)
    await w.runJobs()
    expect([await hasBegun(), await urlColumn(id)]).toEqual([true, ''])
    await aUser(w.api)
    await receiver.has(2)
    const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const, webhook_id: id }
    expect((await w.admin.getWebhook({ params })).url).toBe(receiver.url)
    expect(await query(w.url, 'select oldest from migrations where name = $1', [CHANGE])).toEqual([{ oldest: MIGRATION }])
  })
})
