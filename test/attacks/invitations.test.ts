import { expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { browser, consoleHeaders, fastPasswords, PASSWORD, signIn } from '../support/console.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world({ env: fastPasswords })
const { api } = browser(w.base, '')
const codeOf = (secret: string) => codeAt(fromBase32(secret), stepAt(w.app.wall()))
const complete = (body: object) => sendRequest(w.base, endpoints.completeInvitation, { body, headers: consoleHeaders })

async function invite(email: string) {
  const { link } = await w.admin.createInvite({ params: w, body: { email } })
  return link?.split('#')[1] as string
}

test('an administrator who opens the link first does not learn the second factor of the person', async () => {
  const token = await invite('invited@harbor.example')
  expect(JSON.stringify(await api.openInvitation({ body: { token } }))).not.toMatch(/totp|secret/)
  const administrator = await api.acceptInvitation({ body: { token, name: 'Administrator', password: PASSWORD } })
  const person = await api.acceptInvitation({ body: { token, name: 'Person', password: PASSWORD } })
  expect(person.totp_secret).not.toBe(administrator.totp_secret)
  expect(await complete({ token, setup: person.setup, code: codeOf(administrator.totp_secret) })).toMatchObject({ status: 400 })
  expect(await complete({ token, setup: person.setup, code: codeOf(person.totp_secret) })).toMatchObject({ status: 200 })
  w.advanceTime(60_000)
  const credential = { email: 'invited@harbor.example', password: PASSWORD }
  expect(await errorOf(signIn(w.base, { ...credential, code: codeOf(administrator.totp_secret) }))).toMatchObject({ status: 401 })
  expect((await signIn(w.base, { ...credential, code: codeOf(person.totp_secret) })).cookie).toMatch(/^assay-/)
})

test('the setup of one invitation cannot complete another, and neither can an altered one', async () => {
  const [mine, other] = [await invite('mine@harbor.example'), await invite('other@harbor.example')]
  const { setup, totp_secret } = await api.acceptInvitation({ body: { token: mine, name: 'Mine', password: PASSWORD } })
  const altered = `${setup.slice(0, -4)}${setup.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
  for (const body of [
    { token: other, setup },
    { token: mine, setup: altered },
    { token: mine, setup: 'AA' },
  ])
    expect(await complete({ ...body, code: codeOf(totp_secret) })).toMatchObject({
      status: 400,
      body: { detail: { error_type: 'INVALID_SETUP' } },
    })
  expect((await w.admin.listInvites({ params: w })).invites).toHaveLength(2)
})
