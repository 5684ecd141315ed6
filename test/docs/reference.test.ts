import { brotliDecompressSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountReference } from '../../src/http/docs/reference.ts'

const server = Fastify()
mountReference(server)
const ask = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })

const script = async () =>
  /<script src="(\/docs\/reference\/viewer\.js\?v=[\w-]+)"/.exec((await ask('/docs/reference')).body)?.[1] as string

test('the reference is one page with and without a slash at its end, and its script is ours', async () => {
  const { statusCode, body } = await ask('/docs/reference')
  expect(statusCode).toBe(200)
  expect((await ask('/docs/reference/')).body).toBe(body)
  expect(body).not.toMatch(/(src|href)="?(https?:)?\/\//)
  expect(await script()).toBeDefined()
})

test('the script is sent compressed, and kept for good by whoever asks for its version', async () => {
  const path = await script()
  const { headers, rawPayload } = await ask(path, { 'accept-encoding': 'br' })
  expect(headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'public, max-age=31536000, immutable' })
  const whole = brotliDecompressSync(rawPayload)
  console.log(`The viewer has ${(whole.length / 1e6).toFixed(1)} MB, of which ${(rawPayload.length / 1e6).toFixed(1)} MB are sent.`)
  expect(rawPayload.length).toBeLessThan(whole.length / 3)
  expect((await ask(path)).rawPayload.equals(whole)).toBe(true)
  expect(await ask(path, { 'if-none-match': headers.etag as string })).toMatchObject({ statusCode: 304, body: '' })
  expect((await ask('/docs/reference/viewer.js?v=old')).headers['cache-control']).toBe('no-cache')
})

test('no other script runs in the page than ours and the one that begins it', async () => {
  const policy = String((await ask('/docs/reference')).headers['content-security-policy'])
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]{43}=';/)
  expect(policy).toContain("connect-src 'self';")
})
