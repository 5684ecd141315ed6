import { expect } from 'vitest'
import { journey, openSignedIn } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { world } from '../support/world.ts'

const instance = await world()

/** A site that is open all week. */
const site = {
  kind: 'site' as const,
  code: 'HARBOR-1',
  name: 'Harbor Clinic',
  provider: 'quillmoor',
  iana_timezone: 'America/Phoenix',
  slot_minutes: 60,
  hours: Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, [{ from: '08:00', to: '12:00' }]]),
  ),
  address: { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' },
  location: { lng: -112.07, lat: 33.45 },
}

journey(
  'a site is added, changed and removed',
  async (width) => {
    const tenant = await instance.tenant()
    const calendars = async () => (await tenant.api.getSchedule()).calendars
    const { open, ...opened } = await openSignedIn(instance.base, tenant, width)
    const { page } = opened
    await open('/schedule')
    await page.getByText('No calendars yet').waitFor()
    await page.getByRole('button', { name: 'Add calendar' }).first().click()
    const dialog = page.getByRole('dialog')
    const fill = async (fields: Record<string, string>) => {
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(value)
    }
    await fill({ Code: 'HARBOR-1', Name: 'Harbor Clinic', 'Time zone': 'America/Phoenix', Phone: '+16025550100' })
    await dialog.getByLabel('Lab', { exact: true }).selectOption('quillmoor')
    await fill({ Street: '1 Pier', City: 'Phoenix', State: 'AZ', 'ZIP code': '85004', Latitude: '33.45', Longitude: '-112.07' })
    await fill({ Monday: '08:00-12:00, 13:00-17:00', 'Days off': '2026-12-25' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('table').getByText('Harbor Clinic').waitFor()
    expect(await calendars()).toMatchObject([
      {
        code: 'HARBOR-1',
        hours: {
          monday: [
            { from: '08:00', to: '12:00' },
            { from: '13:00', to: '17:00' },
          ],
        },
        holidays: ['2026-12-25'],
        phone_number: '+16025550100',
      },
    ])
    await page.getByRole('button', { name: 'Change Harbor Clinic' }).click()
    await fill({ Monday: '09:00-12:00' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await calendars()).toMatchObject([{ hours: { monday: [{ from: '09:00', to: '12:00' }] } }])
    await page.getByRole('button', { name: 'Remove Harbor Clinic' }).click()
    await dialog.getByRole('button', { name: 'Remove calendar' }).click()
    await page.getByText('No calendars yet').waitFor()
    expect(await calendars()).toEqual([])
    return opened
  },
  { checkAccessibility: true },
)

journey(
  'a visit is booked, moved and canceled on the order page, and the site sees it',
  async (width) => {
    const tenant = await instance.tenant()
    const { api } = tenant
    await api.putSchedule({ body: { calendars: [site] } })
    const order = await placeOrder(api)
    await instance.runJobs()
    const params = { order_id: order.id }
    const { open, ...opened } = await openSignedIn(instance.base, tenant, width)
    const { page } = opened
    await open(`/orders/${order.id}`)
    const dialog = page.getByRole('dialog')
    const choose = async (button: string, day: number) => {
      await page.getByRole('button', { name: button }).click()
      const sites = dialog.getByLabel('Site', { exact: true })
      await dialog.getByRole('group', { name: 'Times' }).waitFor()
      if (await sites.count()) await sites.selectOption('Harbor Clinic')
      await dialog.getByRole('group', { name: 'Days' }).getByRole('button').nth(day).click()
      await dialog.getByRole('group', { name: 'Times' }).getByRole('button').first().click()
      await dialog.getByRole('button', { name: button }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await choose('Book visit', 2)
    await page.getByRole('button', { name: 'Move visit' }).waitFor()
    const booked = await api.getCenterVisit({ params })
    expect(booked).toMatchObject({ status: 'confirmed', provider_id: 'HARBOR-1' })
    await choose('Move visit', 4)
    const moved = await api.getCenterVisit({ params })
    expect(Date.parse(moved.start_at as string)).toBeGreaterThan(Date.parse(booked.start_at as string))

    await open(`/schedule/HARBOR-1?date=${moved.start_at?.slice(0, 10)}`)
    const visits = page.getByRole('table', { name: 'Visits' })
    await visits.getByText('8:00 AM – 9:00 AM').waitFor()
    expect(await visits.getByText('Quillfeather').count()).toBe(0)
    await page.getByRole('button', { name: 'Reveal' }).click()
    await dialog.getByRole('textbox').fill('Preparing the tubes of the day')
    await dialog.getByRole('button', { name: 'Reveal' }).click()
    await visits.getByText('Zephyrine Quillfeather').waitFor()

    await open(`/orders/${order.id}`)
    await page.getByRole('button', { name: 'Cancel visit' }).click()
    await dialog.getByRole('button', { name: 'Cancel visit' }).click()
    await page.getByRole('button', { name: 'Book visit' }).waitFor()
    expect((await api.getCenterVisit({ params })).status).toBe('cancelled')
    return opened
  },
  { checkAccessibility: true },
)
