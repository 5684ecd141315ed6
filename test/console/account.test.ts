import { expect } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { follow, journey, openPage, signInByKey } from '../support/console-page.ts'
import { screenshot } from '../support/console-tour.ts'
import { readQrCode } from '../support/qr.ts'
import { world } from '../support/world.ts'

const w = await world({ env: fastPasswords })

journey(
  'a person replaces the authenticator, generates recovery codes, changes the password and signs out other sessions',
  async (width) => {
    const person = await joinOrganization(w, await w.tenant())
    const [here = '', there = '', renewing = ''] = person.recovery_codes
    const elsewhere = await signIn(w.base, { email: person.email, password: PASSWORD, code: there })
    w.advanceTime(MINUTE)
    const opened = await openPage(w.base, width)
    const { page, consoleErrors } = opened
    await page.goto('/console/sign-in')
    await page.getByRole('button', { name: 'Email' }).click()
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Code').fill(here)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await follow(page, person.email)
    await page.getByText('8 codes left').waitFor()
    await screenshot(page, `account-${width}`)
    const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
    await sessions.nth(3).waitFor()
    expect(await sessions.count()).toBe(4)

    await page.getByRole('button', { name: 'Sign out other sessions' }).click()
    await page.getByText('Signed out 2 other sessions.').waitFor()
    expect(await elsewhere.send(endpoints.getSession)).toMatchObject({ status: 401 })

    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Replace authenticator' }).click()
    await dialog.getByLabel('Password').fill('not the password at all')
    await dialog.getByLabel('Code').fill(renewing)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(consoleErrors.splice(0)).toHaveLength(1)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('img').waitFor()
    await screenshot(page, `second-factor-${width}`)
    const uri = new URL(await readQrCode(await dialog.getByRole('img', { name: /^QR code/ }).screenshot()))
    const code = () => codeAt(fromBase32(uri.searchParams.get('secret') as string), stepAt(w.app.wall()))
    await dialog.getByLabel('Code', { exact: true }).fill(code())
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await dialog.getByRole('button', { name: "I've saved these codes" }).click()
    await page.getByText('10 codes left').waitFor()

    w.advanceTime(MINUTE)
    await page.getByRole('button', { name: 'Generate new codes' }).click()
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByLabel('Code', { exact: true }).fill(code())
    await dialog.getByRole('button', { name: 'Generate new codes' }).click()
    const [last = ''] = ((await dialog.locator('.secret code').textContent()) ?? '').split(' ')
    await dialog.getByRole('button', { name: "I've saved these codes" }).click()

    await page.getByRole('button', { name: 'Change password' }).click()
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByLabel('Code').fill(last)
    await dialog.getByLabel('New password').fill('a second lantern by the pier')
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed.').waitFor()
    await page.getByText('9 codes left').waitFor()
    w.advanceTime(MINUTE)
    await signIn(w.base, { email: person.email, password: 'a second lantern by the pier', code: code() })
    return opened
  },
  { checkAccessibility: true },
)

journey(
  'a session signed in with a key shows that it has no account',
  async (width) => {
    const { management_key } = await w.tenant()
    const opened = await openPage(w.base, width)
    await signInByKey(opened.page, management_key)
    await follow(opened.page, 'Management key')
    await opened.page.getByText('You are signed in with a key').waitFor()
    return opened
  },
  { checkAccessibility: true },
)
