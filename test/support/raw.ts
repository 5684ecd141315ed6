import { expect } from 'vitest'
import { personalWords } from './people.ts'

export type RawResponse = { status: number; headers: Headers; text: string; body: { detail?: unknown } }
export type RawRequest = { headers?: Record<string, string>; body?: string | Buffer }

/** A request as it is, right or wrong, and whatever comes back. */
export async function sendRaw(url: string, method: string, { headers, body }: RawRequest = {}): Promise<RawResponse> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
  })
  const text = await textOf(response)
  const isJson = text && response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}

/** A stream has no end of its own; its head is enough. */
export async function textOf(response: Response) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

/** What every refusal must be: 4xx, JSON with a detail, traceable, and silent about people. */
export function expectClientError({ status, headers, text, body }: RawResponse) {
  expect(status, text).toBeGreaterThanOrEqual(400)
  expect(status, text).toBeLessThan(500)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('x-request-id')).toBeTruthy()
  expect(body.detail).toBeTruthy()
  for (const item of Array.isArray(body.detail) ? body.detail : [])
    expect(item).toEqual({ type: expect.stringMatching(/^\w+$/), loc: expect.any(Array), msg: expect.stringMatching(/\w/) })
  for (const word of personalWords) expect(text).not.toContain(word)
}
