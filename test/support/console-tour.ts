import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectNoOverflow, openSignedIn, resizePage, seriousIssues, widths } from './console-page.ts'
import { aPatient, placeOrder } from './orders.ts'
import { people, someInfo } from './people.ts'
import { root } from './process.ts'
import { aReceiver, aWebhook, waitFor } from './webhooks.ts'
import type { Replica, Tenant } from './world.ts'

/** `shows` is text that proves the page loaded its data. */
type Stop = { name: string; path: string; shows: string | RegExp; dark?: true }

/** Creates a team with users, orders, results and deliveries. */
export async function aBusyTeam(one: Replica) {
  const tenant = await one.tenant({ team: 'Harbor Clinic' })
  const { api } = tenant
  const { user_id } = await api.createUser({ body: { client_user_id: 'member-2041', fallback_time_zone: 'America/New_York' } })
  await api.putUserInfo({ params: { user_id }, body: someInfo() })
  await api.connectDemo({ body: { user_id, provider: 'oura' } })
  await one.runJobs()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, description: 'Orders of the clinic' })
  const patient = { user_id, patient_details: aPatient() }
  const of = (person: (typeof people)[number]) => ({ patient_details: aPatient({}, person) })
  const orders = [
    await placeOrder(api, 'walk_in_test', patient),
    await placeOrder(api, 'walk_in_test', patient),
    await placeOrder(api, 'testkit', of(people[1])),
    await placeOrder(api, 'at_home_phlebotomy', of(people[2])),
    await placeOrder(api, 'on_site_collection', of(people[2])),
  ]
  await one.runJobs()
  const results = ['normal', 'critical'] as const
  for (const [i, interpretation] of results.entries())
    await api.simulateOrder({ params: { order_id: orders[i]?.id as string }, body: { interpretation, seed: `tour ${i}` } })
  await one.runJobs()
  const [attempt] = await waitFor(async () => {
    const attempts = await webhook.attempts()
    expect(attempts.length).toBeGreaterThan(4)
    return attempts
  })
  return { tenant, user_id, order_id: orders[1]?.id as string, webhook_id: webhook.id, attempt_id: attempt?.id as string }
}

/**
 * Opens each page in one session, checks it on a desktop and a phone, and takes screenshots.
 * A page with `dark` is also checked in the dark theme on a desktop.
 */
export async function tour(base: string, tenant: Tenant, stops: Stop[]) {
  const { page, consoleErrors, externalRequests } = await openSignedIn(base, tenant)
  const issues: Record<string, string[]> = {}
  const check = async (shot: string, rules?: 'color-contrast') => {
    const found = await seriousIssues(page, rules)
    if (found.length) issues[shot] = found
    await screenshot(page, shot)
  }
  for (const { name, path, shows, dark } of stops) {
    await page.goto(`/console${path.startsWith('/organization') ? '' : `/t/${tenant.team_id}`}${path}`)
    const content = page.locator('#content').getByText(shows).filter({ visible: true }).first()
    for (const [, width] of widths) {
      await resizePage(page, width)
      await content.waitFor()
      await expectNoOverflow(page)
      await check(`${name}-${width}`)
    }
    await resizePage(page, 1440)
    if (!dark) continue
    await page.emulateMedia({ colorScheme: 'dark' })
    await check(`${name}-1440-dark`, 'color-contrast')
    await page.emulateMedia({ colorScheme: 'light' })
  }
  expect(issues).toEqual({})
  expect(consoleErrors).toEqual([])
  expect(externalRequests()).toEqual([])
}

/** Writes to docs/screenshots if SCREENSHOTS is set. */
export async function screenshot(page: Page, name: string) {
  if (!process.env['SCREENSHOTS']) return
  const folder = join(root, 'docs/screenshots')
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
