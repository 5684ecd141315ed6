import { isLoopbackHost } from '../platform/outbound/address.ts'
import { setupProblem } from '../platform/problem.ts'
import { newDexcomUser } from '../wearables/providers/dexcom_v3/stand-in/data.ts'
import { openDexcomStandIn } from '../wearables/providers/dexcom_v3/stand-in/server.ts'
import { newGoogleUser } from '../wearables/providers/google_health/stand-in/data.ts'
import { openGoogleStandIn } from '../wearables/providers/google_health/stand-in/server.ts'
import { newOuraUser } from '../wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../wearables/providers/oura/stand-in/server.ts'
import type { Behavior, StandInOptions } from '../wearables/providers/stand-in/server.ts'
import { newWhoopUser } from '../wearables/providers/whoop/stand-in/data.ts'
import { openWhoopStandIn } from '../wearables/providers/whoop/stand-in/server.ts'
import { newWithingsUser } from '../wearables/providers/withings/stand-in/data.ts'
import { openWithingsStandIn } from '../wearables/providers/withings/stand-in/server.ts'

type RunningCloud = { behavior: Behavior; origin: string; setting: object; deliver(): Promise<unknown>; close(): Promise<void> }

type Definition<User> = {
  name: string
  port: number
  /** The account of a number. */
  accountOf(number: number): string
  newUser(id: string, until: string, days: number): User
  open(options: StandInOptions<User>): Promise<RunningCloud>
}

type Size = { port: number; users: number; days: number; odd?: number }

const DELIVER_EVERY_MS = 1000

const simulated = <User>({ name, port, accountOf, newUser, open }: Definition<User>) => ({
  name,
  port,
  async start({ port, users, days, odd = 0 }: Size) {
    const now = new Date().toISOString()
    const accounts = Array.from({ length: users }, (_, i) => accountOf(i + 1))
    const client = { client_id: 'simulated-client', client_secret: 'simulated-secret' }
    const cloud = await open({ client, users: accounts.map((id) => newUser(id, now, days)), port })
    cloud.behavior.odd_records = odd
    const timer = setInterval(() => void cloud.deliver(), DELIVER_EVERY_MS).unref()
    const stop = () => {
      clearInterval(timer)
      return cloud.close()
    }
    return { accounts, origin: cloud.origin, setting: cloud.setting, stop }
  },
})

/** Some clouds have numbers as IDs of accounts. */
const numbered = (number: number) => String(1000 + number)
const named = (slug: string) => (number: number) => `${slug}-user-${number}`

/** The stand-ins of clouds, by the slug of their source. */
export const simulatedClouds = {
  oura: simulated({ name: 'Oura', port: 9400, accountOf: named('oura'), newUser: newOuraUser, open: openOuraStandIn }),
  withings: simulated({ name: 'Withings', port: 9401, accountOf: numbered, newUser: newWithingsUser, open: openWithingsStandIn }),
  whoop_v2: simulated({ name: 'WHOOP', port: 9402, accountOf: numbered, newUser: newWhoopUser, open: openWhoopStandIn }),
  google_health: simulated({
    name: 'Google Health',
    port: 9403,
    accountOf: named('google'),
    newUser: newGoogleUser,
    open: openGoogleStandIn,
  }),
  dexcom_v3: simulated({ name: 'Dexcom', port: 9404, accountOf: named('dexcom'), newUser: newDexcomUser, open: openDexcomStandIn }),
}

const slugs = Object.keys(simulatedClouds) as (keyof typeof simulatedClouds)[]

/** Starts stand-ins for a service in this process or its children, and sets OAUTH_SOURCES to connect accounts to them. */
export async function simulateClouds(list: string, env: NodeJS.ProcessEnv) {
  if (env['ENVIRONMENT'] === 'production') throw setupProblem('--simulate needs the sandbox.')
  if (!isLoopbackHost(env['HOST'] || '127.0.0.1') && env['WEBHOOK_ALLOW_LOOPBACK'] !== 'true')
    throw setupProblem(
      '--simulate needs WEBHOOK_ALLOW_LOOPBACK=true if HOST is not a loopback address, because the stand-ins listen on this machine.',
    )
  const wanted = list.split(',').map((slug) => slug.trim())
  const unknown = wanted.filter((slug) => !slugs.some((known) => known === slug))
  if (unknown.length) throw setupProblem(`--simulate does not know ${unknown.join(', ')}. It knows ${slugs.join(', ')}.`)
  const settings: Record<string, object> = JSON.parse(env['OAUTH_SOURCES'] || '{}')
  const clouds: { stop(): Promise<void> }[] = []
  for (const slug of slugs.filter((slug) => wanted.includes(slug))) {
    const cloud = await simulatedClouds[slug].start({ port: 0, users: 3, days: 90 })
    settings[slug] = cloud.setting
    clouds.push(cloud)
  }
  env['OAUTH_SOURCES'] = JSON.stringify(settings)
  return { stop: () => Promise.all(clouds.map(({ stop }) => stop())) }
}
