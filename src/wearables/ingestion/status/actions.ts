import { type SourceSlug, sourceSlugs } from '../../../contract/tenants/sources.ts'
import { type App, onReplica } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import type { Db } from '../../../platform/db/open.ts'
import { secondsUntil } from '../../../platform/time.ts'
import { providerOf } from '../../../tenants/sources/actions.ts'
import * as connections from '../../connections/actions.ts'
import { cloudOf, cloudSlugs } from '../../providers/clouds.ts'
import { listCustomSources } from '../../team-sources/credentials.ts'
import { isSetUp } from '../../team-sources/oauth-client.ts'
import { summarizeQuotas, UNUSED } from '../applications/store.ts'
import { groupSkipped } from '../skips/rules.ts'
import { summarizeJobs } from '../store.ts'
import * as rules from './rules.ts'
import * as store from './store-status.ts'

const COUNT_LIMIT = 10_000
const MAX_USERS = 5

/** The state of every source that Assay reads or that the team has connections to. */
export const getSourceStatus = (app: App, { team_id }: TeamCaller) => onReplica(app, (app) => readStatus(app, team_id))

async function readStatus(app: App, team_id: string) {
  const now = app.wall()
  const scope = { team_id, providers: sourceSlugs, limit: COUNT_LIMIT }
  const [counts, errors, clients, teamSources] = await Promise.all([
    store.countConnections(app.db, scope, now),
    store.listErrors(app.db, scope, MAX_USERS),
    store.listClients(app.db, team_id),
    listCustomSources(app, team_id),
  ])
  const countsOf = new Map(counts.map((row) => [row.provider, row]))
  const clientOf = new Map(clients.map((row) => [row.provider, row]))
  const present = (slug: SourceSlug) => ({
    ...providerOf(app, slug),
    application: teamSources.has(slug) ? 'team' : isSetUp(app, slug, teamSources) ? 'deployment' : 'none',
    ...presentCounts(slug, countsOf.get(slug), now),
    ...presentClient(slug, clientOf.get(slug), now),
    errors: errors.filter(({ provider }) => provider === slug).map((row) => ({ ...row, remedy: rules.remedyOf(row.error) })),
  })
  const listed = sourceSlugs.filter((slug) => cloudSlugs.includes(slug) || countsOf.has(slug))
  return { at: now, sources: listed.map(present) }
}

const noConnections = { total: 0, pending: 0, failing: 0, expired: 0, paused: 0, oldest_due: null, last_read_at: null }

function presentCounts(slug: SourceSlug, counts: store.SourceCounts | undefined, now: string) {
  const { total, pending, failing, expired, paused, oldest_due, last_read_at } = counts ?? noConnections
  const connected = total - pending - failing - expired - paused
  const lag = oldest_due ? Math.max(0, Math.round(secondsUntil(now, oldest_due))) : 0
  return {
    connections: { connected, pending, failing, expired, paused, at_least: total > COUNT_LIMIT },
    lag_seconds: cloudOf(slug) ? lag : null,
    last_read_at,
  }
}

type Client = Awaited<ReturnType<typeof store.listClients>>[number]

function presentClient(slug: SourceSlug, client: Client | undefined, now: string) {
  const { receive, registersByHand = false } = cloudOf(slug) ?? {}
  const { blocked_until = null, quota_limit = null, quota_remaining = null } = client ?? {}
  return {
    quota: quota_remaining === null ? null : { limit: quota_limit, remaining: quota_remaining },
    blocked_until: blocked_until && blocked_until > now ? blocked_until : null,
    ...rules.notificationsOf({ receives: receive !== undefined, registersByHand }, client, UNUSED),
  }
}

/** The connections of a user, with what Assay reads through them. */
export async function listConnections(app: App, caller: TeamCaller, user_id: string) {
  const { providers } = await connections.listConnections(app, caller, user_id)
  const feeds = await store.listFeeds(app.db, caller.team_id, user_id)
  return { providers: providers.map((one) => ({ ...one, feeds: feeds.filter(({ provider }) => provider === one.slug).map(presentFeed) })) }
}

const presentFeed = ({ feed, tries, error, last_success_at, due_at, skipped }: Awaited<ReturnType<typeof store.listFeeds>>[number]) => ({
  ...{ name: feed, failures: tries, error, remedy: error === null ? null : rules.remedyOf(error) },
  ...{ last_read_at: last_success_at, next_read_at: due_at, skipped: groupSkipped(skipped) },
})

/** What the clouds wait for: the feeds of each source that are due or failing, and the requests that are left. */
export async function cloudBacklog(db: Db, now: string) {
  const remaining = new Map((await summarizeQuotas(db)).map((row) => [row.provider, row.remaining]))
  return (await summarizeJobs(db, now)).map((row) => ({ ...row, remaining: remaining.get(row.provider) ?? null }))
}
