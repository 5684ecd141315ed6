import { expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { SECOND } from '../../src/platform/time.ts'
import { networkOf } from '../../src/tenants/people/sessions/rules.ts'
import { consoleHeaders, fastPasswords, joinOrganization, PASSWORD } from '../support/console.ts'
import { query } from '../support/query.ts'
import { world } from '../support/world.ts'

const w = await world({ env: { ...fastPasswords, TRUST_PROXY: '127.0.0.1' } })
let owner: Awaited<ReturnType<typeof joinOrganization>>

/** Every test has a new owner, and nobody has attempted to sign in. */
async function startAttack() {
  owner = await joinOrganization(w, w)
  await query(w.url, 'delete from sign_in_attempts')
}

const attempt = (body: object, address: string, cookie = '') =>
  sendRequest(w.base, endpoints.beginSession, { body, headers: { ...consoleHeaders, 'x-forwarded-for': address, cookie } })

const guess = (address: string, email = owner.email, cookie = '') =>
  attempt({ email, password: 'a wrong lantern', code: '000000' }, address, cookie)

/** The owner signs in with the right password and a new code. */
function ownerSignsIn(address: string, cookie = '') {
  w.advanceTime(30 * SECOND)
  return attempt({ email: owner.email, password: PASSWORD, code: owner.code() }, address, cookie)
}

const deviceOf = ({ headers }: { headers: Headers }) =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.includes('-device='))
    ?.split(';')[0] as string

const HOME = '198.51.100.7'
const ATTACKER = '203.0.113.9'
const refused = { status: 401, body: { detail: { error_type: 'SIGN_IN_REFUSED' } } }
const limited = { status: 429, body: { detail: { error_type: 'TOO_MANY_SIGN_INS' } } }

test('guessing the password of a known user gets ten attempts and does not lock the user out elsewhere', async () => {
  await startAttack()
  for (let i = 0; i < 10; i++) expect(await guess(ATTACKER)).toMatchObject(refused)
  expect(await guess(ATTACKER)).toMatchObject(limited)
  expect(await ownerSignsIn(HOME)).toMatchObject({ status: 200 })
  expect(await guess(ATTACKER)).toMatchObject(limited)
})

test('guessing from the network of the user does not lock the user out of a known device', async () => {
  await startAttack()
  const device = deviceOf(await ownerSignsIn(HOME))
  for (let i = 0; i < 10; i++) await guess(HOME)
  expect(await ownerSignsIn(HOME)).toMatchObject(limited)
  expect(await ownerSignsIn(HOME, device)).toMatchObject({ status: 200 })
})

test('guessing from many networks is limited to 100 attempts, and does not lock the user out of a known device', async () => {
  await startAttack()
  const device = deviceOf(await ownerSignsIn(HOME))
  await guess(ATTACKER)
  await query(w.url, 'update sign_in_attempts set count = 100')
  expect(await guess('203.0.113.200')).toMatchObject(limited)
  expect(await ownerSignsIn('198.51.100.8', device)).toMatchObject({ status: 200 })
})

test('a known device has ten attempts, also from a network that is not limited', async () => {
  await startAttack()
  const device = deviceOf(await ownerSignsIn(HOME))
  for (let i = 0; i < 10; i++) expect(await guess(HOME, owner.email, device)).toMatchObject(refused)
  expect(await guess(HOME, owner.email, device)).toMatchObject(limited)
})

test('the device of one account does not help to guess the password of another', async () => {
  await startAttack()
  const colleague = await joinOrganization(w, w)
  const device = deviceOf(await ownerSignsIn(ATTACKER))
  for (let i = 0; i < 10; i++) await guess(ATTACKER, colleague.email, device)
  expect(await guess(ATTACKER, colleague.email, device)).toMatchObject(limited)
})

test('a device is forgotten when the password changes, and a forged one is not known', async () => {
  await startAttack()
  const device = deviceOf(await ownerSignsIn(HOME))
  w.advanceTime(30 * SECOND)
  await owner.api.changePassword({ body: { password: PASSWORD, code: owner.code(), new_password: `${PASSWORD} at night` } })
  for (let i = 0; i < 10; i++) await guess(HOME, owner.email, i % 2 ? device : '')
  expect(await guess(HOME, owner.email, device)).toMatchObject(limited)
  expect(await guess(HOME, owner.email, `${device.split('=')[0]}=${'A'.repeat(22)}.${'A'.repeat(43)}`)).toMatchObject(limited)
})

test('hopping through the addresses of an IPv6 network does not reset the count', async () => {
  await startAttack()
  for (let i = 0; i < 10; i++) expect(await guess(`2001:db8:1:2:${i}::${i}`)).toMatchObject(refused)
  expect(await guess('2001:db8:1:2:ffff::1')).toMatchObject(limited)
  expect(await guess('2001:db8:1:3::1')).toMatchObject(refused)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:5::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
])('counts %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
