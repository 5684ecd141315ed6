import { isSource, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import type { SummaryName } from '../../contract/wearables/summaries.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid } from '../../platform/problem.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { checkTimeZone, DAY } from '../../platform/time.ts'
import { requireUser, type UserRow, unwrapUserKey } from '../../tenants/users/actions.ts'
import { fillTimeZone } from '../../tenants/users/fallbacks.ts'
import { ensureConnection, hasConnection, rejectEnded } from '../connections/actions.ts'
import { zoneClock } from '../time/rules.ts'
import type { EarlyDays } from './samples/days.ts'

/** The fields of a push besides its data. */
export type PushBody = {
  stage: 'daily' | 'historical'
  provider: string
  start_date?: string | null | undefined
  end_date?: string | null | undefined
  time_zone?: string | null | undefined
  modified_at?: string | null | undefined
}

/**
 * A backfill has many windows, so it collects the outcome of each and ends after the last one. `isComplete` tells whether the
 * data contains everything that the source has of a day.
 */
export type Pull = { collect?(found: ResourceChanges[]): void; isComplete?(resource: SummaryName, day: string): boolean }

export type ResourceChanges = { resource: string; created: unknown[]; updated: unknown[]; days: number }

/** A checked push: its user, source, clock and time zone. */
export type IncomingPush = {
  user: UserRow
  key: SealingKey
  provider: SourceSlug
  stage: 'daily' | 'historical'
  isConnected: boolean
  window: { start: string | null; end: string | null }
  time_zone: string | null
  zoneAt(at: number): number | null
  /** The team's clock. Data must not be more than a day ahead of it. */
  now: number
  /** Real time in milliseconds: the version of data without modified_at. */
  received: number
  /** The modified_at of the push. */
  version: number | null
  /** The push gives up after waiting this long for a lock. */
  lockTimeoutMs?: number | undefined
  /** Set for data that an adapter pulled. */
  pull?: Pull | undefined
  /** Set if the stored days were read together with the user. */
  early?: EarlyDays | undefined
}

/** The zone of a sample comes first, then the push's time_zone, then the user's fallback. */
export async function openPush(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, user_id: string, body: PushBody): Promise<IncomingPush> {
  const provider = requireSource(body.provider)
  const [user, isConnected] = await Promise.all([requireUser(app, team_id, user_id), hasConnection(app, { team_id, user_id }, provider)])
  if (!isConnected) await rejectEnded(app, user, provider)
  const { stage, start_date, end_date, time_zone, modified_at } = body
  if (time_zone) checkTimeZone(time_zone, ['body', 'time_zone'])
  const now = Date.parse(app.now())
  checkVersion(modified_at, now)
  if (start_date && end_date && end_date < start_date) throw invalid(['body', 'end_date'], 'Must not be before start_date.')
  const zone = zoneOf(provider, time_zone ?? user.time_zone)
  return {
    ...{ user, provider, stage, now, key: await unwrapUserKey(app, user), isConnected },
    window: { start: start_date ?? null, end: end_date ?? null },
    time_zone: zone,
    zoneAt: zoneClock(zone),
    received: Date.parse(app.wall()),
    version: modified_at ? Date.parse(modified_at) : null,
  }
}

/** Sources with floating time report local time without a zone, so a zone would shift it. */
function zoneOf(provider: SourceSlug, zone: string | null) {
  const { timezone_affinity } = sources[provider]
  if (timezone_affinity === 'floating') return null
  return zone ?? (timezone_affinity === 'user_fallback_or_utc' ? 'UTC' : null)
}

/** Connects the source if needed and updates the fallback time zone of the user. */
export async function connectSource(app: App, { user, provider, isConnected, stage }: IncomingPush, { time_zone }: PushBody) {
  if (!isConnected) await ensureConnection(app, user, provider, 'push')
  if (time_zone && stage === 'daily' && sources[provider].timezone_affinity !== 'floating')
    await fillTimeZone(app, user, provider, time_zone)
}

/** A version far in the future could never be replaced. */
export function checkVersion(modified_at: string | null | undefined, now: number) {
  if (modified_at && Date.parse(modified_at) > now + DAY) throw invalid(['body', 'modified_at'], 'Must not be in the future.')
}

export function requireSource(slug: string, loc: (string | number)[] = ['body', 'provider']): SourceSlug {
  if (!isSource(slug)) throw invalid(loc, 'Unknown source. GET /v2/providers lists the sources.', 'enum')
  return slug
}

export const sourceFilter = ({ provider }: { provider: string }) => (provider ? requireSource(provider, ['query', 'provider']) : undefined)

/** Tests whether a time or period overlaps the ingestion bounds of the user. */
export function ingestionFilter({ user }: Pick<IncomingPush, 'user'>) {
  const start = user.ingestion_start ? Date.parse(user.ingestion_start) : Number.NEGATIVE_INFINITY
  const end = user.ingestion_end ? Date.parse(user.ingestion_end) : Number.POSITIVE_INFINITY
  return (from: number, to = from) => to >= start && from <= end
}
