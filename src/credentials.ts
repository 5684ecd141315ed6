import { join } from 'node:path'
import type { App } from './app.ts'
import { readPrivate, writePrivate } from './data-dir.ts'
import { type Keys, provideKeys } from './deployment/actions.ts'
import { worksAsKeys } from './keys/authenticate.ts'
import { firstOrgAndTeam } from './teams/actions.ts'

export type Credentials = {
  path: string
  first: boolean
  base_url: string
  org_id?: string
  team_id?: string
  team_api_key?: string
  management_key?: string
}

const FILE = 'credentials.json'

/** Keeps the first keys in DATA_DIR, rewritten at each start: what the operator fixed, else what an earlier start kept, else new ones in the sandbox. */
export async function openCredentials(app: App, base_url: string): Promise<Credentials> {
  const kept = await keptKeys(app)
  const { BOOTSTRAP_TEAM_API_KEY, BOOTSTRAP_MANAGEMENT_KEY, ENVIRONMENT } = app.config
  const given = {
    team_api_key: BOOTSTRAP_TEAM_API_KEY ?? kept?.team_api_key,
    management_key: BOOTSTRAP_MANAGEMENT_KEY ?? kept?.management_key,
  }
  const mayMake = ENVIRONMENT === 'sandbox' || (given.team_api_key && given.management_key)
  const keys = mayMake
    ? await provideKeys(app, given, { org: 'First organisation', team: 'First team', plan: 'scale' })
    : await idsOnly(app)
  await writePrivate(app.config, FILE, `${JSON.stringify({ base_url, ...keys }, null, 2)}\n`)
  return { path: join(app.config.DATA_DIR, FILE), first: !kept, base_url, ...keys }
}

async function keptKeys(app: App): Promise<Partial<Keys> | undefined> {
  const text = await readPrivate(app.config, FILE)
  if (!text) return undefined
  const kept = parsed(text)
  return kept && (await worksAsKeys(app, kept)) ? kept : undefined
}

function parsed(text: string): Partial<Keys> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function idsOnly(app: App) {
  const found = await firstOrgAndTeam(app)
  return found ? { org_id: found.org.id, team_id: found.team.id } : {}
}
