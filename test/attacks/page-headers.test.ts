import { expect, test } from 'vitest'
import { world } from '../support/world.ts'

const w = await world({ env: { PUBLIC_URL: 'https://assay.harbor.example' } })

test.each([
  '/console',
  '/',
  '/docs',
  '/docs/security',
  '/docs/search?q=key',
  '/docs/reference',
  '/docs/nowhere',
  '/link',
  '/openapi.json',
  '/health',
])('a page that %s links to learns no URL, and nobody on the network can ask for it without TLS', async (path) => {
  const { headers } = await fetch(w.base + path, { redirect: 'manual' })
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
})

test('a service without TLS does not tell browsers to use it', async () => {
  const { base } = await world()
  expect((await fetch(`${base}/console`)).headers.get('strict-transport-security')).toBeNull()
})
