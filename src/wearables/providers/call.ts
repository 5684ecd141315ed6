import type { z } from 'zod'
import type { App } from '../../platform/app.ts'
import { policyOf } from '../../platform/outbound/address.ts'
import type { Outcome } from '../../platform/outbound/outcome.ts'
import { openSender, type Sender } from '../../platform/outbound/send.ts'
import { SECOND } from '../../platform/time.ts'
import { type Call, type CloudRequest, cloudError, faultOf } from './cloud.ts'
import { cloudOf } from './clouds.ts'
import type { Client } from './rules-oauth.ts'
import { parseJson } from './untrusted.ts'

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
  /** Connections that several readers share. Without them, it has one of its own. */
  sender?: Sender | undefined
}

/** Connections to clouds: so many at most to each. */
export const openCloudSender = ({ config }: App, connections: number) =>
  openSender({ policy: policyOf(config), timeoutMs: TIMEOUT_MS, connections })

/** A connection to the API of a cloud, with the same protection as webhooks: no private addresses, no redirects, bounded time and size. */
export function openCloud(
  app: App,
  provider: string,
  { api_url }: Pick<Client, 'api_url'>,
  { token, renew, observe, sender: shared }: Access = {},
) {
  const cloud = cloudOf(provider)
  const sender = shared ?? openCloudSender(app, 1)
  let access = token
  let isRenewed = false
  const send = async (request: CloudRequest) => {
    const message = messageOf(api_url ?? cloud?.api_url ?? '', request, access)
    const outcome = await sender.request({ ...message, maxBytes: MAX_BYTES, keptHeaders })
    observe?.(outcome)
    const { status, error } = outcome
    if (!outcome.ok)
      return { error: cloudError(faultOf(status, error), `${error} ${status ?? ''}`.trim(), waitOf(outcome, app.wall())), body: undefined }
    if (outcome.truncated) return { error: cloudError('malformed', 'too large'), body: undefined }
    const body = outcome.response_body.length ? parseJson(outcome.response_body) : null
    const found = cloud?.faultIn?.(body)
    return { error: found && cloudError(found.fault, found.detail), body }
  }
  const parsed = async <S extends z.ZodType>(request: CloudRequest, shape: S) => {
    let response = await send(request)
    if (response.error?.fault === 'unauthorized' && access && renew && !isRenewed) {
      isRenewed = true
      const next = await renew(access)
      if (next) {
        access = next
        response = await send(request)
      }
    }
    if (response.error) throw response.error
    const { data, error } = shape.safeParse(response.body)
    // The message of the parser would contain health data.
    if (error) throw cloudError('malformed', `shape of ${request.path.split('/').slice(0, 4).join('/')}`)
    return data as z.output<S>
  }
  const call: Call = Object.assign(parsed, { note: () => {} })
  return { call, close: async () => (shared ? undefined : sender.close()) }
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
