import { availableParallelism, cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../../bench/numbers.ts'
import { inParallel } from '../../src/platform/in-parallel.ts'
import { aLink } from '../support/connections.ts'
import { grantAccess } from '../support/consent.ts'
import { query } from '../support/databases.ts'
import { eventually } from '../support/process.ts'
import { randomInteger } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { compareAll } from './cloud-comparison.ts'
import { openNotifier } from './cloud-notifier.ts'
import { type CloudSite, openCloudSite, type StormCloud } from './cloud-site.ts'

type Options = { users: number; rounds: number; print?: (line: string) => void; log?: string | undefined }

const CLIENTS = 12
/** Every so many users connect on consent pages, and the others are imported with their tokens, this many in a request. */
const BY_CONSENT = 20
const IMPORTED = 50
/** Changes of each account in a round. */
const CHANGES = 2
/** Of a hundred changes, this many delete the object, once for each object. */
const DELETIONS = 15
const OUTAGE_MS = 4000
const MAX_PENDING = 200
const SETTLED_MS = 30 * 60_000

/**
 * Connects users to five clouds, changes their data in a storm of notifications while clouds fail and processes are killed,
 * and compares what the clouds hold with events and reads.
 */
export async function tortureClouds({ users, rounds, print = () => {}, log }: Options) {
  print(`${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, load ${load()}`)
  const site = await openCloudSite(users, log)
  const notifier = openNotifier(site.reach, site.ledger.faults)
  try {
    const connectedMs = await timed(() => connectAll(site, users, print))
    const { calls: firstCalls, ms: firstMs } = await firstRead(site)
    print(
      `${users * site.clouds.length} connections in ${seconds(connectedMs)}, read ${seconds(firstMs)} later with ${firstCalls} requests`,
    )
    const before = callsOf(site)
    const accounts = accountsOf(site)
    const stormMs = await timed(async () => {
      for (let round = 0; round < rounds; round++) await runRound(site, notifier, accounts, round, print)
    })
    const settleMs = await timed(() => settle(site, notifier))
    const calls = callsOf(site) - before
    const missing = site.ledger.pending().map(({ place }) => `${site.ledger.nameOf(place)}: the last change did not arrive`)
    const differences = await compareAll(site, accounts, CLIENTS)
    const { counts, lags, faults } = site.ledger
    return {
      ...{ users, rounds, counts, calls, notifications: notifier.counts, stormMs, settleMs, load: load() },
      lags: summarizeLags(lags),
      compared: differences.compared,
      faults: [...faults, ...missing, ...differences.faults],
    }
  } finally {
    await notifier.close()
    await site.close()
  }
}

const load = () => loadavg()[0]?.toFixed(1)
const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`

async function timed(work: () => Promise<unknown>) {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const callsOf = ({ clouds }: CloudSite) => clouds.reduce((sum, { requests }) => sum + requests.length, 0)

const userIds = new Map<string, string>()

type NewUser = { user_id: string; i: number }

/** Every user connects an account of each cloud: some on consent pages, the others by import. */
async function connectAll(site: CloudSite, users: number, print: (line: string) => void) {
  const { base, api, clouds } = site
  const created: NewUser[] = []
  await inParallel(Array(users).keys(), CLIENTS, async (i) => void created.push({ user_id: await aUser(api), i }))
  for (const { user_id, i } of created) for (const { slug, accounts } of clouds) userIds.set(`${slug} ${accounts[i]}`, user_id)
  const isByConsent = ({ i }: NewUser) => i % BY_CONSENT === 0
  const consenting = created.filter(isByConsent)
  await inParallel(consenting, CLIENTS, async ({ user_id, i }) => {
    for (const { slug, accounts } of clouds) await grantAccess(base, slug, api, accounts[i] as string, { user_id })
  })
  const rest = created.filter((user) => !isByConsent(user))
  const batches = Array.from({ length: Math.ceil(rest.length / IMPORTED) }, (_, n) => rest.slice(n * IMPORTED, (n + 1) * IMPORTED))
  await inParallel(
    batches.flatMap((batch) => clouds.map((cloud) => ({ cloud, batch }))),
    CLIENTS,
    ({ cloud, batch }) => importAccounts(site, cloud, batch),
  )
  // A large import continues after its response.
  const countConnections = async () => Number((await query<{ count: string }>(site.url, 'select count(*) from connections'))[0]?.count)
  await eventually(async () => (await countConnections()) === users * clouds.length, SETTLED_MS, 500)
  print(`${users} users: ${consenting.length} connected on consent pages, ${rest.length} imported, load ${load()}`)
}

/** Imports accounts with the scopes that the consent page asks for. */
async function importAccounts({ base, api }: CloudSite, { slug, accounts, issue }: StormCloud, users: NewUser[]) {
  const { link } = await aLink(base, api, { user_id: users[0]?.user_id as string })
  const { oauth_url } = await link.startOAuth({ params: { oauth_provider: slug }, query: {} })
  const scopes = (new URL(oauth_url as string).searchParams.get('scope') ?? '').split(/[ ,]/)
  const connections = users.map(({ user_id, i }) => {
    const { access_token, refresh_token } = issue(accounts[i] as string, scopes)
    const expires_at = Math.floor(Date.now() / 1000) + TOKEN_SECONDS
    return { user_id, access_token, refresh_token, provider_id: accounts[i] as string, expires_at, oauth_scopes: scopes }
  })
  const { user_ids_failed } = await api.bulkImport({ body: { provider: slug, connections, wait_for_completion: true } })
  if (user_ids_failed.length) throw new Error(`${user_ids_failed.length} accounts of ${slug} were not imported`)
}

/** All stand-ins accept a token for this long. */
const TOKEN_SECONDS = 3000

/** Waits until every feed was read. */
async function firstRead(site: CloudSite) {
  const isRead = async () => {
    const [row] = await query<{ open: string }>(
      site.url,
      'select count(*) as open from pull_jobs where last_success_at is null or due_at <= now()',
    )
    return Number(row?.open) === 0
  }
  const ms = await timed(async () => {
    await eventually(isRead, SETTLED_MS, 500)
    // Events may still be on their way.
    for (let last = -1; last !== site.ledger.counts.events; await sleep(1500)) last = site.ledger.counts.events
  })
  return { ms, calls: callsOf(site) }
}

type Account = {
  cloud: StormCloud
  account: string
  user_id: string
  objects: Map<string, { n: number; wasDeleted: boolean; exists: boolean }>
}

const accountsOf = ({ clouds }: CloudSite): Account[] =>
  clouds.flatMap((cloud) =>
    cloud.accounts.map((account) => ({ cloud, account, user_id: userIds.get(`${cloud.slug} ${account}`) as string, objects: new Map() })),
  )

type Notifier = ReturnType<typeof openNotifier>

/** Changes every account, while a cloud is down, another one limits requests, and a process is killed. */
async function runRound(site: CloudSite, notifier: Notifier, accounts: Account[], round: number, print: (line: string) => void) {
  const { clouds } = site
  const cloudAt = (i: number) => clouds[i % clouds.length] as StormCloud
  const [down, limited] = [cloudAt(round), cloudAt(round + 3)]
  const order = shuffled(accounts.flatMap((account) => Array.from({ length: CHANGES }, () => account)))
  const victim = (round + 1) % site.names.length
  const trouble: Promise<unknown>[] = []
  /** A failure counts at the end of the round, so that the site is closed then. */
  const begin = (work: Promise<unknown>) => {
    work.catch(() => {})
    trouble.push(work)
  }
  const polled: { at: number }[] = []
  for (const [i, account] of order.entries()) {
    if (i === Math.floor(order.length * 0.2)) begin(outage(down))
    if (i === Math.floor(order.length * 0.4)) begin(site.restart(victim))
    if (i === Math.floor(order.length * 0.6)) begin(limit(limited))
    const change = changeOne(site, account)
    if (change && account.cloud.slug === 'dexcom_v3') polled.push(change)
    notifier.add(account.cloud.take())
    while (notifier.pending() > MAX_PENDING) await sleep(5)
    if (i % 20 === 0) await sleep(0)
  }
  await Promise.all(trouble)
  await makePollsDue(site, polled)
  print(
    `round ${round + 1}: ${order.length} changes, ${down.slug} down, ${limited.slug} limited, ${site.names[victim]} killed, ${site.ledger.pending().length} on their way, load ${load()}`,
  )
}

function shuffled<T>(list: T[]) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = randomInteger(0, i)
    ;[list[i], list[j]] = [list[j] as T, list[i] as T]
  }
  return list
}

async function outage({ behavior }: StormCloud) {
  behavior.down = true
  await sleep(OUTAGE_MS)
  behavior.down = false
}

async function limit({ behavior }: StormCloud) {
  Object.assign(behavior, { remaining: 0, retryAfterSeconds: 3 })
  await sleep(OUTAGE_MS)
  behavior.remaining = undefined
}

/** Creates, corrects or deletes an object at the cloud. */
function changeOne(site: CloudSite, { cloud, account, user_id, objects }: Account) {
  const subject = pick(cloud.subjects)
  const ids = subject.ids(account)
  const id = pick(ids)
  const name = `${subject.resource} ${id}`
  const key = subject.keyOf(account, id)
  const object = objects.get(name) ?? { n: 0, wasDeleted: false, exists: false }
  objects.set(name, object)
  const place = { user_id, slug: cloud.slug, resource: subject.resource, key }
  if (subject.remove && object.exists && !object.wasDeleted && randomInteger(1, 100) <= DELETIONS) {
    const change = site.ledger.change(place, null)
    subject.remove(account, id)
    Object.assign(object, { wasDeleted: true, exists: false })
    return change
  }
  object.n++
  object.exists = true
  const change = site.ledger.change(place, subject.valueOf(object.n))
  subject.put(account, id, object.n)
  return change
}

const pick = <T>(list: T[]) => list[randomInteger(0, list.length - 1)] as T

/** Dexcom sends no notifications. Its changes count from the next poll, which is hourly. */
async function makePollsDue({ url }: CloudSite, changes: { at: number }[]) {
  await query(
    url,
    `update pull_jobs set live_due_at = now(), requests = requests + 1,
      due_at = case when leased_until > now() then due_at else least(due_at, now()) end where provider = 'dexcom_v3' and due_at is not null`,
  )
  for (const change of changes) change.at = Date.now()
}

/** Waits until the clouds have nothing more to say, and everything has arrived. */
async function settle({ url, ledger }: CloudSite, notifier: Notifier) {
  const isIdle = async () => {
    if (notifier.pending() || ledger.pending().length) return false
    const [row] = await query<{ open: string }>(
      url,
      'select (select count(*) from cloud_changes) + (select count(*) from pull_jobs where tries > 0 or due_at <= now()) as open',
    )
    return Number(row?.open) === 0
  }
  await eventually(isIdle, SETTLED_MS, 500).catch(() => {})
}

function summarizeLags(lags: { slug: string; ms: number }[]) {
  const of = (list: typeof lags) => {
    const times = list.map(({ ms }) => ms)
    return { count: times.length, p50: percentile(times, 50), p95: percentile(times, 95), max: Math.max(0, ...times) }
  }
  const bySlug = Map.groupBy(lags, ({ slug }) => slug)
  return { all: of(lags), ...Object.fromEntries([...bySlug].map(([slug, list]) => [slug, of(list)])) }
}

type Outcome = Awaited<ReturnType<typeof tortureClouds>>

export function summaryOfClouds({ users, counts, calls, notifications, lags, compared, faults, stormMs, settleMs, load }: Outcome) {
  const lagLines = Object.entries(lags).map(
    ([name, { count, p50, p95, max }]) =>
      `lag of ${name}: p50 ${seconds(p50)}, p95 ${seconds(p95)}, longest ${seconds(max)} (${count} changes)`,
  )
  return [
    `${users} users: ${counts.changes} changes in ${seconds(stormMs)}, settled ${seconds(settleMs)} later, load ${load}`,
    `${notifications.sent} notifications, ${notifications.duplicates} of them twice, ${notifications.retried} sent again`,
    `${calls} requests to clouds, ${(calls / counts.changes).toFixed(1)} per change; ${counts.events} messages, ${counts.repeated} repeated`,
    ...lagLines,
    `${compared} summaries and samples compared, ${faults.length} faults`,
  ].join('\n')
}
