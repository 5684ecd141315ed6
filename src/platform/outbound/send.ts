import { Problem } from '../problem.ts'
import type { Policy } from './address.ts'
import { exchange, type Limits } from './exchange.ts'
import { type Failure, type Outcome, outcomeWithoutExchange } from './outcome.ts'
import { openPools } from './pools.ts'
import { type Resolve, systemResolve } from './resolve.ts'
import { checkUrl } from './url.ts'

export type Settings = {
  /** Applies to every request of this sender, because a kept connection was checked against the policy it was opened under. */
  policy: Policy
  resolve?: Resolve
  timeoutMs?: number
  ca?: string
  /** Maximum connections per origin. Further requests wait, and the wait counts toward their time limit. */
  connections?: number
  maxOrigins?: number
}

export type Message = { url: string; headers: Record<string, string>; body: string | Buffer }

/** A request that is not a webhook message. */
export type Request = Limits & { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; url: string; headers: Record<string, string>; body?: string }

export type Sender = ReturnType<typeof openSender>

/** Sends requests to untrusted receivers. */
export function openSender({ policy, resolve = systemResolve(), timeoutMs = 15_000, ca, connections = 256, maxOrigins = 1000 }: Settings) {
  const pools = openPools({ policy, resolve, connectTimeoutMs: timeoutMs, ca, connections, maxOrigins })
  const targets = new Map<string, URL | Failure>()
  let isOpen = true

  /** Never throws: every failure is an outcome. */
  async function post({ url, headers, body }: Message): Promise<Outcome> {
    const target = targets.get(url) ?? targetOf(url, policy)
    if (targets.size > maxOrigins) targets.clear()
    targets.set(url, target)
    return send(target, { method: 'POST', headers: { ...fixedHeaders, ...lowerCaseHeaders(headers) }, body })
  }

  /** Sends a request of any method and never throws. The URLs differ, so the checked ones are not kept. */
  const request = ({ method, url, headers, body, ...limits }: Request) =>
    send(
      targetOf(url, policy),
      { method, headers: { accept: 'application/json', ...lowerCaseHeaders(headers) }, body: body ?? null },
      limits,
    )

  async function send(
    target: URL | Failure,
    { method, headers, body }: { method: string; headers: Record<string, string>; body: string | Buffer | null },
    limits?: Limits,
  ): Promise<Outcome> {
    if (!isOpen) return failedOutcome('aborted')
    if (typeof target === 'string') return failedOutcome(target)
    // With this header, TLS would check the certificate against its host instead of the URL's.
    if ('host' in headers) return failedOutcome('bad_header')
    return exchange(pools.poolOf(target.origin), { method, path: target.pathname + target.search, headers, body }, timeoutMs, limits)
  }

  async function close() {
    isOpen = false
    await pools.close()
  }

  return { post, request, close, origins: pools.size }
}

/** Sends one message over a connection of its own. */
export async function postOnce(policy: Policy, message: Message): Promise<Outcome> {
  const sender = openSender({ policy })
  try {
    return await sender.post(message)
  } finally {
    await sender.close()
  }
}

/** Sent with every request, unless the webhook overrides them. */
export const fixedHeaders = { 'content-type': 'application/json', 'user-agent': 'Assay-Webhooks/1', accept: '*/*' }

export const lowerCaseHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The policy may be stricter now than when the URL was accepted. */
function targetOf(url: string, policy: Policy): URL | Failure {
  try {
    return new URL(checkUrl(url, policy))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return (error.detail as { reason?: string }).reason === 'address' ? 'forbidden_address' : 'url_refused'
  }
}

const failedOutcome = (error: Failure) => outcomeWithoutExchange(null, error)
