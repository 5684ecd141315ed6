import { expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { consoleHeaders, fastPasswords } from '../support/console.ts'
import { world } from '../support/world.ts'

const w = await world({ env: fastPasswords })
const { link } = await w.admin.createInvite({ params: w, body: { email: 'ottoline.keeper@lighthouse.example' } })
const token = link?.split('#')[1] as string
const accept = (password: string) =>
  sendRequest(w.base, endpoints.acceptInvitation, { body: { token, name: 'Ottoline', password }, headers: consoleHeaders })

test.each([
  ['a common password with digits', 'iloveyou1234'],
  ['letters that look like others', 'P@ssw0rd1234!'],
  ['two common passwords', 'Monkey1234Dragon'],
  ['a season and a year', 'Summer2026!!!'],
  ['neighboring keys', '1qaz2wsx3edc4rfv'],
  ['a row of the keyboard', 'qwertyuiop[]\\'],
  ['a sequence', 'abcdefghijklmnop'],
  ['digits in sequence', '12345678901234567890'],
  ['one repeated letter', 'aaaaaaaaaaaaaaaa'],
  ['a repeated word', 'trustno1trustno1'],
  ['a date and a year', '19800504 1980'],
  ['the organization and a year', 'HarborHealth2026'],
  ['the domain of the email', 'Lighthouse2026!'],
])('a guesser who tries %s does not get in, because it cannot be chosen', async (_, password) => {
  const response = await accept(password)
  expect(response).toMatchObject({ status: 400, body: { detail: { error_type: 'WEAK_PASSWORD' } } })
  expect(JSON.stringify(response.body)).not.toContain(password)
})

test.each(['a lantern over quiet water', '7f9dk2LqPz0x', '海と灯台と静かな夜と星と風と波', 'x%x%x%Kq8#vmW2zr'])(
  'a password that only its owner knows is accepted: %s',
  async (password) => {
    expect(await accept(password)).toMatchObject({ status: 200 })
  },
)
