import type { Row } from '../../contract/endpoint.ts'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'
import { problem } from '../../platform/problem.ts'
import { DAY, SECOND } from '../../platform/time.ts'

/** Tokens per second, and the most that a bucket holds. */
export type Rate = { perSecond: number; burst: number }

export const rateOf = ({ requests_per_second, burst }: RateLimit): Rate => ({
  perSecond: requests_per_second,
  burst: burst ?? requests_per_second,
})

/** A credential of single teams can lower the rates of its teams and their keys. Only the organization can raise or remove them. */
export function checkRateChange(
  { team_ids }: { team_ids: string[] | undefined },
  now: RateLimit | null,
  next: RateLimit | null | undefined,
) {
  if (!team_ids || next === undefined || !now || (next && isWithin(rateOf(next), rateOf(now)))) return
  throw problem(
    'ORG_KEY_REQUIRED',
    'A credential of single teams can lower rate_limit, and not raise or remove it. Use an Org Management Key, or ask the operator.',
  )
}

const isWithin = (rate: Rate, limit: Rate) => rate.perSecond <= limit.perSecond && rate.burst <= limit.burst

/** The tokens for about half a second, so that processes share a rate and ask the database twice a second. */
export const leaseSize = ({ perSecond, burst }: Rate, cost: number) => Math.max(cost, Math.min(burst, Math.ceil(perSecond / 2)))

/** After a lease that was too small, a process asks again when there are enough tokens, and not all the time. */
const MIN_WAIT_MS = 50

export const waitMs = (rate: Rate, missing: number) => Math.max(MIN_WAIT_MS, (missing / rate.perSecond) * SECOND)

const MAX_COST = 10
const YEAR_MS = 366 * DAY

/** How many tokens a request takes. A read of many years takes more than a read of a day. */
export function costOf({ cost = 1, query }: Pick<Row, 'cost' | 'query'>, sent: Record<string, unknown>, now: string) {
  if (!query || !('start_date' in query.shape) || sent['start_date'] === undefined) return cost
  const from = Date.parse(String(sent['start_date']))
  const to = Date.parse(String(sent['end_date'] || now))
  const years = Math.floor((to - from) / YEAR_MS)
  return Number.isNaN(years) ? cost : Math.min(MAX_COST, cost + Math.max(0, years))
}

export type RateState = { name: 'team' | 'key'; rate: Rate; remaining: number }

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
export const rateHeaders = (states: RateState[]) => ({
  'ratelimit-policy': states.map(({ name, rate }) => `"${name}";q=${rate.burst};w=${secondsToFill(rate, rate.burst)}`).join(', '),
  ratelimit: states
    .map(({ name, rate, remaining }) => `"${name}";r=${remaining};t=${secondsToFill(rate, rate.burst - remaining)}`)
    .join(', '),
})

const secondsToFill = ({ perSecond }: Rate, tokens: number) => Math.ceil(tokens / perSecond)
