import { expect, test } from 'vitest'
import { waits } from '../../src/delivery/webhooks/rules.ts'
import { pauses, SUSPECT } from '../../src/delivery/webhooks/rules-health.ts'
import { headersOf, newSecret, parseSecret, signatures } from '../../src/delivery/webhooks/sign.ts'
import { pageText } from './support/blocks.ts'
import { moduleOf } from './support/modules.ts'

const timestamp = Math.floor(Date.now() / 1000)
const told = (secrets: string[]) =>
  headersOf({ id: 'id', timestamp, signature: signatures(secrets.map(parseSecret), 'id', timestamp, '{}'), sequence: 1, key: 'order:1' })

test('the verifier of the page takes what we sign, and nothing else', async () => {
  const { isOurs } = await moduleOf('docs/webhooks.md', 'isOurs')
  const [secret, old] = [newSecret(), newSecret()]
  const headers = told([secret, old])
  expect([isOurs(secret, headers, '{}'), isOurs(old, headers, '{}')]).toEqual([true, true])
  expect([isOurs(newSecret(), headers, '{}'), isOurs(secret, headers, '{ }')]).toEqual([false, false])
  expect(isOurs(secret, { ...headers, 'webhook-timestamp': String(timestamp - 400) }, '{}')).toBe(false)
  expect(isOurs(secret, { ...headers, 'webhook-signature': 'v2,AAAA' }, '{}')).toBe(false)
})

test('the one with the public library too', async () => {
  const { eventIn } = await moduleOf('docs/webhooks.md', 'eventIn')
  const secret = newSecret()
  expect(eventIn(secret, told([secret]), '{}')).toEqual({})
  expect(() => eventIn(newSecret(), told([secret]), '{}')).toThrow('signature')
})

test('the schedule of the page is the one that is kept', () => {
  const units: Record<string, number> = { seconds: 1000, minutes: 60_000, hours: 3_600_000 }
  const rows = [...pageText('docs/webhooks.md').matchAll(/^\| \d \| (\d+) (seconds|minutes|hours) \|$/gm)]
  expect(rows.map(([, n, unit]) => Number(n) * (units[unit as string] as number))).toEqual(waits)
})

test('the rests of the page are those that are kept', () => {
  const found = /After (\d+) failures in a row[^.]*? rests for (\d+) seconds, then ([\d, and]+);/.exec(pageText('docs/webhooks.md'))
  const [, failures, first, more = ''] = found ?? []
  expect([Number(failures), [first, ...more.split(/, | and /)].map((seconds) => Number(seconds) * 1000)]).toEqual([SUSPECT, pauses])
})
