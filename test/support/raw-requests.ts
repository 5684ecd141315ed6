import { expect } from 'vitest'
import { personalWords } from './people.ts'

export type RawResponse = { status: number; headers: Headers; text: string; body: { detail?: unknown } }
export type RawRequest = { headers?: Record<string, string>; body?: string | Buffer }

/** Sends a request unchecked and returns the response. */
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

/** An event stream never ends, so its body is not read. */
export async function textOf(response: Response) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

/** Checks that an error is a 4xx with a JSON detail and a request ID, without personal data. */
export function expectClientError({ status, headers, text, body }: RawResponse) {
  expect(status, text).toBeGreaterThanOrEqual(400)
  expect(status, text).toBeLessThan(500)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('x-request-id')).toBeTruthy()
  expect(body.detail).toBeTruthy()
  for (const item of Array.isArray(body.detail) ? body.detail : [])
    expect(item).toEqual({ type: expect.stringMatching(/^\w+$/), loc: expect.any(Array), msg: expect.stringMatching(/\w/) })
  expect(personalWords.filter((word) => text.includes(word))).toEqual([])
}
