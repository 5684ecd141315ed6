import { SECOND } from '../time.ts'

const TIMEOUT_MS = 15 * SECOND
const MAX_RESPONSE = 1024 * 1024

type TrustedRequest = { method: 'POST' | 'PUT'; headers: Record<string, string>; body: string | Buffer }

/** Sends a request to a host that the operator configured, and returns the body of the response. An error names the setting, never the URL. */
export async function sendTrusted(setting: string, url: string, { method, headers, body }: TrustedRequest): Promise<Buffer> {
  const request = {
    method,
    headers,
    body: new Uint8Array(Buffer.from(body)),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  } as const
  const response = await fetch(url, request).catch((error: Error) => {
    const { code } = (error.cause ?? error) as { code?: string }
    throw new Error(`${setting}: the host cannot be reached${code ? ` (${code})` : ''}`)
  })
  if (!response.ok) throw new Error(`${setting}: the host responded with ${response.status}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (bytes.length > MAX_RESPONSE) throw new Error(`${setting}: the response is too long`)
  return bytes
}
