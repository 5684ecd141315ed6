import type { App } from '../../platform/app.ts'
import { policyOf } from '../../platform/outbound/address.ts'
import type { Outcome } from '../../platform/outbound/outcome.ts'
import { openSender } from '../../platform/outbound/send.ts'
import { SECOND } from '../../platform/time.ts'
import { type Call, type CloudRequest, cloudError, faultOf } from './cloud.ts'

/** A page of a month of heart rates has about 2 MB. */
const MAX_BYTES = 8 * 1024 * 1024
const TIMEOUT_MS = 20 * SECOND

type Access = {
  /** The access token. Without one, requests authenticate in their headers. */
  token?: string
  /** Called once if the cloud rejects the token. Undefined if there is no other. */
  renew?(rejected: string): Promise<string | undefined>
  /** Called after every response. */
  observe?(outcome: Outcome): void
}

/** A connection to the API of a cloud, with the same protection as webhooks: no private addresses, no redirects, bounded time and size. */
export function openCloud(app: App, api_url: string, { token, renew, observe }: Access = {}) {
  const sender = openSender({ policy: policyOf(app.config), timeoutMs: TIMEOUT_MS, connections: 1, maxOrigins: 1 })
  let access = token
  let isRenewed = false
  const send = async (request: CloudRequest) => {
    const outcome = await sender.request({ ...messageOf(api_url, request, access), maxBytes: MAX_BYTES, keptHeaders })
    observe?.(outcome)
    return outcome
  }
  const call: Call = async (request, shape) => {
    let outcome = await send(request)
    if (outcome.status === 401 && access && renew && !isRenewed) {
      isRenewed = true
      const next = await renew(access)
      if (next) {
        access = next
        outcome = await send(request)
      }
    }
    if (!outcome.ok)
      throw cloudError(
        faultOf(outcome.status, outcome.error),
        `${outcome.error} ${outcome.status ?? ''}`.trim(),
        waitOf(outcome, app.wall()),
      )
    if (outcome.truncated) throw cloudError('malformed', 'too large')
    const parsed = shape.safeParse(jsonOf(outcome.response_body))
    // The message of the parser would contain health data.
    if (!parsed.success) throw cloudError('malformed', `shape of ${request.path.split('/').slice(0, 4).join('/')}`)
    return parsed.data
  }
  return { call, close: sender.close }
}

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const keptHeaders = ['retry-after', ...rateHeaders]

function messageOf(
  api_url: string,
  { method = 'GET', path, query = {}, headers = {}, json, form }: CloudRequest,
  token: string | undefined,
) {
  const url = new URL(path, api_url)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  const type =
    json !== undefined ? { 'content-type': 'application/json' } : form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const body = json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : undefined
  const authorization = token ? { authorization: `Bearer ${token}` } : {}
  return {
    method,
    url: url.href,
    headers: { ...authorization, 'user-agent': 'Assay/1', ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  }
}

function jsonOf(bytes: Buffer): unknown {
  if (!bytes.length) return null
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

const MAX_EPOCH_SECONDS = 1e11

/** How long to wait: Retry-After, or the time at which the limit resets, in seconds from now or since 1970. */
function waitOf({ status, retry_after_ms, response_headers }: Outcome, now: string) {
  if (retry_after_ms !== null || status !== 429) return retry_after_ms
  const reset = Number(response_headers['x-ratelimit-reset'])
  if (!(reset > 0) || reset > MAX_EPOCH_SECONDS) return null
  return reset > 1e9 ? Math.max(0, reset * SECOND - Date.parse(now)) : reset * SECOND
}

/** The requests that are left, if the cloud says so. */
export function quotaOf({ response_headers }: Outcome) {
  const [limit, remaining] = ['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => Number.parseInt(response_headers[name] ?? '', 10))
  return Number.isNaN(remaining) ? undefined : { limit: Number.isNaN(limit) ? null : (limit as number), remaining: remaining as number }
}
