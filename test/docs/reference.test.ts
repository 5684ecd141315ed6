import { brotliDecompressSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountReference } from '../../src/http/docs/reference.ts'

const server = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
mountReference(server)
const get = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })

const script = async () =>
  /<script src="(\/docs\/reference\/viewer\.js\?v=[\w-]+)"/.exec((await get('/docs/reference')).body)?.[1] as string

test('serves the reference with and without a trailing slash and without external scripts', async () => {
  const { statusCode, body } = await get('/docs/reference')
  expect(statusCode).toBe(200)
  expect((await get('/docs/reference/')).body).toBe(body)
  expect(body).not.toMatch(/(src|href)="?(https?:)?\/\//)
  expect(await script()).toBeDefined()
})

test('compresses the script and caches its current version forever', async () => {
  const path = await script()
  const { headers, rawPayload } = await get(path, { 'accept-encoding': 'br' })
  expect(headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'public, max-age=31536000, immutable' })
  const whole = brotliDecompressSync(rawPayload)
  console.log(`The viewer has ${(whole.length / 1e6).toFixed(1)} MB, of which ${(rawPayload.length / 1e6).toFixed(1)} MB are sent.`)
  expect(rawPayload.length).toBeLessThan(whole.length / 3)
  expect((await get(path)).rawPayload.equals(whole)).toBe(true)
  expect(await get(path, { 'if-none-match': headers.etag as string })).toMatchObject({ statusCode: 304, body: '' })
  expect((await get('/docs/reference/viewer.js?v=old')).headers['cache-control']).toBe('no-cache')
})

test('the content security policy allows only our script and the inline loader', async () => {
  const policy = String((await get('/docs/reference')).headers['content-security-policy'])
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]{43}=';/)
  expect(policy).toContain("connect-src 'self';")
})
