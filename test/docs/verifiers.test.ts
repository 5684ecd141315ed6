import { expect, test } from 'vitest'
import { retryWaits } from '../../src/delivery/webhooks/rules.ts'
import { BREAKER_THRESHOLD, pausesMs } from '../../src/delivery/webhooks/rules-health.ts'
import { headersOf, parseSecret, signatures } from '../../src/delivery/webhooks/sign.ts'
import { newWebhookSecret } from '../support/seeded.ts'
import { pageText } from './support/blocks.ts'
import { moduleOf } from './support/modules.ts'

const timestamp = Math.floor(Date.now() / 1000)
const signedHeaders = (secrets: string[]) =>
  headersOf({ id: 'id', timestamp, signature: signatures(secrets.map(parseSecret), 'id', timestamp, '{}'), sequence: 1, key: 'order:1' })

test('the verifier on the page accepts only our signatures', async () => {
  const { hasValidSignature } = await moduleOf('docs/webhooks.md', 'hasValidSignature')
  const [secret, old] = [newWebhookSecret(), newWebhookSecret()]
  const headers = signedHeaders([secret, old])
  expect([hasValidSignature(secret, headers, '{}'), hasValidSignature(old, headers, '{}')]).toEqual([true, true])
  expect([hasValidSignature(newWebhookSecret(), headers, '{}'), hasValidSignature(secret, headers, '{ }')]).toEqual([false, false])
  expect(hasValidSignature(secret, { ...headers, 'webhook-timestamp': String(timestamp - 400) }, '{}')).toBe(false)
  expect(hasValidSignature(secret, { ...headers, 'webhook-signature': 'v2,AAAA' }, '{}')).toBe(false)
})

test('the public library accepts our signatures', async () => {
  const { readEvent } = await moduleOf('docs/webhooks.md', 'readEvent')
  const secret = newWebhookSecret()
  expect(readEvent(secret, signedHeaders([secret]), '{}')).toEqual({})
  expect(() => readEvent(newWebhookSecret(), signedHeaders([secret]), '{}')).toThrow('signature')
})

test('the page shows the retry schedule', () => {
  const units: Record<string, number> = { seconds: 1000, minutes: 60_000, hours: 3_600_000 }
  const rows = [...pageText('docs/webhooks.md').matchAll(/^\| \d \| (\d+) (seconds|minutes|hours) \|$/gm)]
  expect(rows.map(([, n, unit]) => Number(n) * (units[unit as string] as number))).toEqual(retryWaits)
})

test('the page shows the pauses of the circuit breaker', () => {
  const text = pageText('docs/webhooks.md').replace(/\s+/g, ' ')
  const found =
    /After (\d+) consecutive failures, the circuit breaker pauses [^.]*? for (\d+) seconds, then for ([\d, and]+) seconds\./.exec(text)
  const [, failures, first, more = ''] = found ?? []
  expect([Number(failures), [first, ...more.split(/, | and /)].map((seconds) => Number(seconds) * 1000)]).toEqual([
    BREAKER_THRESHOLD,
    pausesMs,
  ])
})
