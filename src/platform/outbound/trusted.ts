import { SECOND } from '../time.ts'

const TIMEOUT_MS = 15 * SECOND
const MAX_RESPONSE = 1024 * 1024

type TrustedRequest = { method: string; headers: Record<string, string>; body?: string | Buffer; timeoutMs?: number }

/** Sends a request to a host that the operator configured. An error names the setting, never the URL. */
export async function requestTrusted(setting: string, url: string, { method, headers, body, timeoutMs = TIMEOUT_MS }: TrustedRequest) {
  const request = {
    method,
    headers,
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  } as const
  return fetch(url, request).catch((error: Error) => {
    throw unreachable(setting, error)
  })
}

/** Returns the body of a successful response. */
export async function sendTrusted(setting: string, url: string, request: TrustedRequest): Promise<Buffer> {
  const response = await requestTrusted(setting, url, request)
  if (!response.ok) throw new Error(`${setting}: the host responded with ${response.status}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (bytes.length > MAX_RESPONSE) throw new Error(`${setting}: the response is too long`)
  return bytes
}

function unreachable(setting: string, error: Error) {
  const { code } = (error.cause ?? error) as { code?: string | number }
  return new Error(`${setting}: the host cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`)
}
