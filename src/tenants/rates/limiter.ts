import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { Caller } from '../../platform/callers.ts'
import { tooMany } from '../../platform/problem.ts'
import { SECOND } from '../../platform/time.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The tokens that this process has leased for a team or a key. */
type Bucket = {
  tokens: number
  /** The tokens that were left in the database after the last lease. */
  shared: number
  leasedAt: number
  /** The database had too few tokens, so asking before this time is useless. */
  emptyUntil: number
  leasing: Promise<void> | undefined
}

type Subject = { name: 'team' | 'key'; team_id: string; subject_id: string; rate: rules.Rate }

/** Tokens that were leased longer ago go back to the database, because other processes may need them. */
const LEASE_MS = SECOND
const MAX_BUCKETS = 10_000

const buckets = declareCache(() => new Map<string, Bucket>())

/**
 * Takes the tokens of a request from the rates of its key and its team, and returns the headers for the response. Tokens are
 * leased ahead, so most requests do not wait for the database. A caller without a fixed rate gets undefined.
 */
export async function spendTokens(app: App, caller: Caller | undefined, cost: () => number) {
  const subjects = caller?.kind === 'team' && !caller.console ? subjectsOf(caller) : []
  if (!subjects.length) return undefined
  const spent: Subject[] = []
  const tokens = cost()
  for (const subject of subjects) {
    const waitMs = await spend(app, subject, Math.min(tokens, subject.rate.burst))
    if (waitMs === undefined) spent.push(subject)
    else {
      for (const earlier of spent) bucketOf(app, earlier).tokens += Math.min(tokens, earlier.rate.burst)
      return { headers: headersOf(app, subjects), refusal: limited(subject, waitMs) }
    }
  }
  return { headers: headersOf(app, subjects) }
}

type LimitedCaller = Extract<Caller, { kind: 'team' }>

/** The key comes first, because its rate is usually the lower one. */
function subjectsOf({ team_id, key_id, rate_limits }: LimitedCaller): Subject[] {
  if (!rate_limits) return []
  const { key, team } = rate_limits
  return [
    ...(key ? [{ name: 'key' as const, team_id, subject_id: key_id, rate: rules.rateOf(key) }] : []),
    ...(team ? [{ name: 'team' as const, team_id, subject_id: team_id, rate: rules.rateOf(team) }] : []),
  ]
}

const nowOf = (app: App) => Date.parse(app.wall())

function bucketOf(app: App, { subject_id }: Subject): Bucket {
  const all = buckets(app)
  const known = all.get(subject_id)
  if (known) return known
  const bucket = { tokens: 0, shared: 0, leasedAt: Number.NEGATIVE_INFINITY, emptyUntil: Number.NEGATIVE_INFINITY, leasing: undefined }
  all.set(subject_id, bucket)
  if (all.size > MAX_BUCKETS) all.delete(all.keys().next().value as string)
  return bucket
}

/** Returns undefined if the tokens were taken, or else the time after which there are enough. */
async function spend(app: App, subject: Subject, cost: number): Promise<number | undefined> {
  const bucket = bucketOf(app, subject)
  // Others that waited for the same lease may have taken its tokens.
  while (!take(app, bucket, cost)) {
    if (nowOf(app) < bucket.emptyUntil) return bucket.emptyUntil - nowOf(app)
    await leaseMore(app, subject, bucket, cost)
  }
  if (bucket.tokens < rules.leaseSize(subject.rate, cost) / 2 && nowOf(app) >= bucket.emptyUntil) leaseAhead(app, subject, bucket, cost)
  return undefined
}

function take(app: App, bucket: Bucket, cost: number) {
  if (bucket.tokens < cost || nowOf(app) - bucket.leasedAt >= LEASE_MS) return false
  bucket.tokens -= cost
  return true
}

/** The request that finds no tokens reports the error. */
const leaseAhead = (app: App, subject: Subject, bucket: Bucket, cost: number) => void leaseMore(app, subject, bucket, cost).catch(() => {})

/** Requests that arrive during a lease wait for the same one. */
function leaseMore(app: App, subject: Subject, bucket: Bucket, cost: number) {
  bucket.leasing ??= lease(app, subject, bucket, cost).finally(() => {
    bucket.leasing = undefined
  })
  return bucket.leasing
}

async function lease(app: App, { team_id, subject_id, rate }: Subject, bucket: Bucket, cost: number) {
  const at = app.wall()
  const wanted = rules.leaseSize(rate, cost)
  const returned = Date.parse(at) - bucket.leasedAt >= LEASE_MS ? bucket.tokens : 0
  bucket.tokens -= returned
  const { granted, tokens } = await store.leaseTokens(app.db, { team_id, subject_id, ...rate, wanted, returned, at })
  bucket.tokens += granted
  bucket.shared = Math.floor(tokens)
  bucket.leasedAt = Date.parse(at)
  if (granted < wanted) bucket.emptyUntil = Date.parse(at) + rules.waitMs(rate, cost - bucket.tokens - tokens)
}

const headersOf = (app: App, subjects: Subject[]) =>
  rules.rateHeaders(
    subjects.map((subject) => {
      const { tokens, shared } = bucketOf(app, subject)
      return { name: subject.name, rate: subject.rate, remaining: Math.min(subject.rate.burst, tokens + shared) }
    }),
  )

const limited = ({ name, rate }: Subject, waitMs: number) =>
  tooMany(
    'RATE_LIMITED',
    `The ${name === 'key' ? 'API key' : 'team'} has a limit of ${rate.perSecond} requests per second. Retry after the seconds in Retry-After.`,
    waitMs / SECOND,
  )
