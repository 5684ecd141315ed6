import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { journey, openSignedIn } from '../support/console-page.ts'
import { someInfo } from '../support/people.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world()

async function aWearer() {
  const user_id = await aUser(w.api)
  await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
  return user_id
}

const wearer = await aWearer()
await w.api.connectDemo({ body: { user_id: wearer, provider: 'oura' } })

const DAY = 86_400_000

/** The length of the zoomed period in the URL, in milliseconds. */
const zoomedLength = (page: Page) => {
  const { searchParams } = new URL(page.url())
  return Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')
}

journey(
  'shows a connected source and its data, zooms by keyboard and mouse, and resets',
  async (width) => {
    const { open, ...opened } = await openSignedIn(w.base, w, width)
    const { page } = opened
    await open(`/users/${wearer}`)
    const connections = page.getByRole('region', { name: 'Connections' })
    await connections.getByText('Oura').waitFor()
    await connections.getByText('Connected').waitFor()
    const chart = page.getByRole('application', { name: /^Heart rate: [1-9]\d* points from .* bpm/ })
    const out = page.getByRole('button', { name: 'Zoom out' })
    await chart.focus()
    await page.keyboard.press('=')
    await waitFor(() => expect(zoomedLength(page)).toBe(3.5 * DAY))
    await page.keyboard.press('=')
    await waitFor(() => expect(zoomedLength(page)).toBe(1.75 * DAY))
    await page.keyboard.press('-')
    await waitFor(() => expect(zoomedLength(page)).toBe(3.5 * DAY))
    expect(await page.locator(':focus').getAttribute('role')).toBe('application')
    await page.keyboard.press('0')
    await out.waitFor({ state: 'detached' })
    expect(zoomedLength(page)).toBeNaN()

    const { x, y, width: wide, height } = (await chart.boundingBox()) as { x: number; y: number; width: number; height: number }
    await page.mouse.move(x + wide * 0.3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + wide * 0.6, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await out.waitFor()
    expect(Math.abs(zoomedLength(page) / DAY - ((0.3 * wide) / (wide - 54)) * 7)).toBeLessThan(0.1)
    await page.reload()
    await out.click()
    await out.waitFor({ state: 'detached' })
    return opened
  },
  { checkAccessibility: true },
)

journey('finds any resource by typing, lists resources with data first, and recovers from an empty period', async (width) => {
  const user_id = await aWearer()
  const { open, ...opened } = await openSignedIn(w.base, w, width)
  const { page } = opened
  const at = new Date(Date.now() - 2 * DAY).toISOString()
  await push(w.api, user_id, 'glucose', [aSample(at, 5.4)])
  await push(w.api, user_id, 'blood_pressure', [{ systolic: aSample(at, 121), diastolic: aSample(at, 78) }])
  await open(`/users/${user_id}`)
  await page.getByRole('button', { name: /^Resource: / }).click()
  const field = page.getByRole('combobox', { name: 'Resource' })
  const expected = ['Blood pressure1 sample', 'Glucose1 sample', 'Calories activeNo data yet']
  await waitFor(async () => expect((await page.getByRole('option').allTextContents()).slice(0, 3)).toEqual(expected))
  await field.fill('wheel')
  await page.keyboard.press('Enter')
  await page.getByText('No data in this period').waitFor()
  await page.getByRole('button', { name: 'Resource: Wheelchair push' }).click()
  await page.getByRole('option', { name: /^Blood pressure/ }).click()
  await page.getByRole('application', { name: /^Blood pressure: 2 points .* mmHg/ }).waitFor()
  await page.getByText('Apple HealthKit diastolic (mmHg)').waitFor()

  const chart = page.getByRole('application')
  await chart.focus()
  for (const _ of [1, 2, 3]) await page.keyboard.press('=')
  await chart.getByText('No data in this period').waitFor()
  await page.keyboard.press('0')
  await page.getByRole('application', { name: /^Blood pressure: 2 points/ }).waitFor()
  return opened
})
