import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/contract/client.ts'
import { newDexcomUser } from '../../src/wearables/providers/dexcom_v3/stand-in/data.ts'
import { openDexcomStandIn } from '../../src/wearables/providers/dexcom_v3/stand-in/server.ts'
import { newGoogleUser } from '../../src/wearables/providers/google_health/stand-in/data.ts'
import { openGoogleStandIn } from '../../src/wearables/providers/google_health/stand-in/server.ts'
import { newOuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import type { Notification } from '../../src/wearables/providers/stand-in/deliveries.ts'
import type { Issued, newTokens } from '../../src/wearables/providers/stand-in/oauth.ts'
import type { Behavior, StandInOptions } from '../../src/wearables/providers/stand-in/server.ts'
import { newWhoopUser } from '../../src/wearables/providers/whoop/stand-in/data.ts'
import { openWhoopStandIn } from '../../src/wearables/providers/whoop/stand-in/server.ts'
import { newWithingsUser } from '../../src/wearables/providers/withings/stand-in/data.ts'
import { openWithingsStandIn } from '../../src/wearables/providers/withings/stand-in/server.ts'
import { type OAuthSlug, reachable } from '../support/consent.ts'
import { reservePorts } from '../support/ports.ts'
import { assay, readCredentials, run, type Service, startProcess } from '../support/process.ts'
import { newLedger, openLedgerReceiver } from './cloud-ledger.ts'
import * as subjects from './cloud-subjects.ts'
import { startExternal } from './rounds.ts'

const client = { client_id: 'storm-app', client_secret: 'storm secret' }

type RunningCloud = {
  behavior: Behavior
  requests: unknown[]
  setting: object
  take(): Notification[]
  close(): Promise<void>
  tokens: ReturnType<typeof newTokens>
}

/** A stand-in with its accounts, and what the storm changes in them. */
export type StormCloud = RunningCloud & {
  slug: OAuthSlug
  accounts: string[]
  subjects: subjects.Subject[]
  /** New tokens of an account, without its consent page. */
  issue(account: string, scopes: string[]): Issued
}

type Size = { users: number; now: number; reach(url: string): string }

type Definition<User, Cloud> = {
  slug: OAuthSlug
  accountOf(n: number): string
  newUser(id: string, until: string, days: number): User
  days?: number
  open(options: StandInOptions<User>): Promise<Cloud>
  subjectsOf(cloud: Cloud, now: number): subjects.Subject[]
}

const cloud =
  <User, Cloud extends RunningCloud>({
    slug,
    accountOf,
    newUser,
    days = subjects.HISTORY_DAYS,
    open,
    subjectsOf,
  }: Definition<User, Cloud>) =>
  async ({ users, now, reach }: Size): Promise<StormCloud> => {
    const accounts = Array.from({ length: users }, (_, i) => accountOf(i))
    const until = new Date(now).toISOString()
    const running = await open({ client, users: accounts.map((id) => newUser(id, until, days)), reach })
    const issue = (user: string, scopes: string[]) => {
      const redirect_uri = 'https://assay.example/back'
      const code = running.tokens.newCode({ redirect_uri }, { user, scopes })
      const issued = running.tokens.token({ grant_type: 'authorization_code', ...client, code, redirect_uri })
      if (typeof issued === 'string') throw new Error(issued)
      return issued
    }
    return Object.assign(running, { slug, accounts, subjects: subjectsOf(running, now), issue })
  }

const numbered = (n: number) => String(10_000 + n)
const named = (n: number) => `user-${n}`

const openers = [
  cloud({ slug: 'oura', accountOf: named, newUser: newOuraUser, open: openOuraStandIn, subjectsOf: subjects.ouraSubjects }),
  cloud({
    ...{ slug: 'google_health', accountOf: named, newUser: newGoogleUser },
    ...{ open: openGoogleStandIn, subjectsOf: subjects.googleSubjects },
  }),
  cloud({
    ...{ slug: 'withings', accountOf: numbered, newUser: newWithingsUser },
    ...{ open: openWithingsStandIn, subjectsOf: subjects.withingsSubjects },
  }),
  cloud({ slug: 'whoop_v2', accountOf: numbered, newUser: newWhoopUser, open: openWhoopStandIn, subjectsOf: subjects.whoopSubjects }),
  cloud({
    ...{ slug: 'dexcom_v3', accountOf: named, newUser: newDexcomUser, days: 0 },
    ...{ open: openDexcomStandIn, subjectsOf: subjects.dexcomSubjects },
  }),
]

const roles = ['api', 'worker', 'worker'] as const
export type CloudSite = Awaited<ReturnType<typeof openCloudSite>>

/** Stand-ins of the five clouds, an API process, two workers and a receiver. Withings accepts only https URLs of a domain. */
export async function openCloudSite(users: number, log?: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const [port = 0] = await reservePorts(1)
  const base = `http://127.0.0.1:${port}`
  const reach = (url: string) => reachable(base, url)
  const now = Date.now()
  const clouds = await Promise.all(openers.map((open) => open({ users, now, reach })))
  const server = await startExternal(dataDir)
  const OAUTH_SOURCES = JSON.stringify(Object.fromEntries(clouds.map(({ slug, setting }) => [slug, setting])))
  const env = { ...server.env, OAUTH_SOURCES, PUBLIC_URL: 'https://assay.example', PROCESSES: '1' }
  const start = (i: number) => startProcess({ ...env, ROLE: roles[i], ...(roles[i] === 'api' ? { PORT: String(port) } : {}) }, log)
  const services: Service[] = []
  for (const i of roles.keys()) services.push(await start(i))
  const { org_id, team_id, management_key, team_api_key } = readCredentials(dataDir)
  const fields = new Map(clouds.flatMap(({ slug, subjects }) => subjects.map((one) => [`${slug} ${one.resource}`, one.field])))
  const ledger = newLedger((slug, resource) => fields.get(`${slug} ${resource}`))
  const receiver = await openLedgerReceiver(ledger)
  const admin = createClient(base, { 'x-management-key': management_key })
  const params = { org_id, team_id, env: 'sandbox' as const }
  const { id } = await admin.createWebhook({ params, body: { url: receiver.url, description: 'storm' } })
  receiver.expect((await admin.getWebhookSecret({ params: { ...params, webhook_id: id } })).key)
  await admin.putPullPreferences({
    params: { org_id, env: 'sandbox', region: 'us' },
    body: {
      team_ids: [team_id],
      providers: Object.fromEntries(clouds.map(({ slug }) => [slug, { default: { historical_days_to_pull: 1 } }])),
    },
  })
  await registerByHand(clouds, env)
  return {
    ...{ url: server.url, base, clouds, ledger, reach, now },
    api: createClient(base, { 'x-service-api-key': team_api_key }),
    names: roles,
    /** Kills a process and starts it again. */
    async restart(i: number) {
      const victim = services[i] as Service
      victim.child.kill('SIGKILL')
      await victim.exited
      services[i] = await start(i)
    },
    async close() {
      for (const service of services) service.child.kill('SIGKILL')
      await Promise.all(services.map((service) => service.exited))
      for (const { close } of clouds) await close()
      await receiver.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Enters the webhook URL in the dashboard of WHOOP, which has no API for it. */
async function registerByHand(clouds: StormCloud[], env: Record<string, string | undefined>) {
  const whoop = clouds.find(({ slug }) => slug === 'whoop_v2') as StormCloud
  const { stdout } = await run([process.execPath, assay, 'sources', 'setup', '--source', 'whoop_v2', '--json'], { env }).exited
  const steps = JSON.parse(stdout) as { type: string; value: string }[]
  whoop.behavior.webhook_url = steps.find(({ type }) => type === 'webhook_uri')?.value
}
