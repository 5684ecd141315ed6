import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { sendMessages } from '../../src/labs/communication/actions.ts'
import { escalateCriticals } from '../../src/labs/results/escalation.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { eventsOf } from '../support/events.ts'
import { readMetrics } from '../support/metrics.ts'
import { aCriticalOrder, acknowledge, correct } from '../support/orders.ts'
import { startMailServer } from '../support/smtp.ts'
import { world } from '../support/world.ts'

const mailServer = await startMailServer()
const w = await world({ env: { ...fastPasswords, SMTP_URL: mailServer.url, MAIL_FROM: 'no-reply@harbor.example' } })
// Two in the morning in Phoenix.
w.stopTime(Date.parse('2027-03-02T09:00:00.000Z'))

const contacts = { critical_result_notification_email: 'on-call@harbor.example', critical_result_contacts: ['desk@harbor.example'] }
const team = ['desk@harbor.example', 'on-call@harbor.example']

async function newTeam(critical_escalation_minutes = [15, 30]) {
  const tenant = await w.tenant()
  const sandbox = { ...contacts, critical_escalation_minutes, lab_tests_patient_email_communication_enabled: false }
  await tenant.admin.patchTeam({ params: tenant, body: { sandbox } })
  return tenant
}

/** Lets time pass and returns the emails that were sent. */
async function pass(minutes: number) {
  w.advanceTime(minutes * MINUTE)
  while (await escalateCriticals(w.app));
  while (await sendMessages(w.app));
  return mailServer.take()
}

const recipients = (mails: { to: string }[]) => mails.map(({ to }) => to).sort()
const openOnes = async (api: Client) => (await api.getOverview()).critical_unacknowledged

async function criticalEvents(team_id: string) {
  const events = await eventsOf(w.app, team_id)
  return events.filter(({ event_type }) => event_type.startsWith('labtest.result.critical'))
}

test('a critical result at two in the morning is escalated until someone acknowledges it', async () => {
  const { api, team_id, ...tenant } = await newTeam()
  const { email } = await joinOrganization(w, { ...tenant, api, team_id })
  const order = await aCriticalOrder(api)
  const reported = await criticalEvents(team_id)
  const { reported_at } = await api.getCriticalResult({ params: { order_id: order.id } })

  expect(await pass(14)).toEqual([])
  const first = await pass(1)
  expect(recipients(first)).toEqual(team)
  for (const { headers, text } of first) {
    expect(headers).toMatchObject({ subject: 'A critical result is not acknowledged' })
    expect(headers).not.toHaveProperty('list-unsubscribe')
    expect(text).toContain(`/console/orders/${order.id}?tab=results`)
    expect(text).toContain('It does not replace a call from the lab.')
  }
  expect(await openOnes(api)).toMatchObject({ count: 1, newest: [{ order_id: order.id, escalations: 1 }] })
  expect(await pass(29)).toEqual([])
  expect(recipients(await pass(1))).toEqual([...team, email].sort())
  expect(recipients(await pass(30))).toEqual([...team, email].sort())
  await acknowledge(api, order.id)
  expect(await pass(600)).toEqual([])
  expect(await openOnes(api)).toMatchObject({ count: 0 })

  const escalated = (await criticalEvents(team_id)).slice(reported.length)
  expect(escalated.map(({ event_type }) => event_type)).toEqual(Array(3).fill('labtest.result.critical.escalated'))
  const [, second] = escalated
  expect(escalated.map(({ data }) => data['recipients'])).toEqual(['contacts', 'administrators', 'administrators'])
  expect(second?.data).toEqual({
    ...{ order_id: order.id, sample_id: expect.any(String), team_id, user_id: order.user_id, result_version: 1, reported_at },
    ...{ escalation: 2, recipients: 'administrators', next_escalation_at: expect.any(String) },
  })
})

test('a newer critical version is escalated by itself after the first one is acknowledged', async () => {
  const { api, team_id } = await newTeam([10])
  const { id } = await aCriticalOrder(api)
  const first = await acknowledge(api, id)
  for (const interpretation of ['normal', 'critical'] as const) await correct(api, id, interpretation)
  const { result_version } = await api.getCriticalResult({ params: { order_id: id } })
  expect(result_version).toBeGreaterThan(first.result_version)
  await pass(10)
  const escalated = (await criticalEvents(team_id)).filter(({ event_type }) => event_type.endsWith('.escalated'))
  expect(escalated.map(({ data }) => data['result_version'])).toEqual([result_version])
  await acknowledge(api, id)
})

test('a team without waits, or that removes them, gets no escalation', async () => {
  const { api, admin, team_id, org_id } = await newTeam([])
  await aCriticalOrder(api)
  expect(await pass(600)).toEqual([])
  const params = { org_id, team_id }
  await admin.patchTeam({ params, body: { sandbox: { critical_escalation_minutes: [10] } } })
  await aCriticalOrder(api)
  await admin.patchTeam({ params, body: { sandbox: { critical_escalation_minutes: null } } })
  expect(await pass(600)).toEqual([])
})

test('the metrics show open critical results and the time to acknowledge them', async () => {
  const { api } = await newTeam()
  const order = await aCriticalOrder(api)
  const before = await readMetrics(w.base)
  await acknowledge(api, order.id)
  const after = await readMetrics(w.base)
  expect(after('assay_critical_results_open')).toBe(before('assay_critical_results_open') - 1)
  expect(after('assay_critical_results_acknowledge_p95_seconds')).toBeGreaterThan(0)
})
