import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { waits } from '../../src/webhooks/rules.ts'
import { headersOf, newSecret, parseSecret, signatures } from '../../src/webhooks/sign.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

test('the verifier of the page takes what we sign, and nothing else', async () => {
  const code = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code as string).find((code) => code.includes('isOurs')) as string
  const { isOurs } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const [secret, old] = [newSecret(), newSecret()]
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = signatures([parseSecret(secret), parseSecret(old)], 'id', timestamp, '{}')
  const headers = headersOf({ id: 'id', timestamp, signature, sequence: 1, key: 'order:1' })
  expect([isOurs(secret, headers, '{}'), isOurs(old, headers, '{}')]).toEqual([true, true])
  expect([isOurs(newSecret(), headers, '{}'), isOurs(secret, headers, '{ }')]).toEqual([false, false])
  expect(isOurs(secret, { ...headers, 'webhook-timestamp': String(timestamp - 400) }, '{}')).toBe(false)
  expect(isOurs(secret, { ...headers, 'webhook-signature': 'v2,AAAA' }, '{}')).toBe(false)
})

test('the schedule of the page is the one that is kept', () => {
  const units: Record<string, number> = { seconds: 1000, minutes: 60_000, hours: 3_600_000 }
  const told = [...page.matchAll(/^\| \d \| (\d+) (seconds|minutes|hours) \|$/gm)].map(
    ([, n, unit]) => Number(n) * (units[unit as string] as number),
  )
  expect(told).toEqual(waits)
})
