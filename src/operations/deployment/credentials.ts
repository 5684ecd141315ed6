import type { App } from '../../platform/app.ts'
import { inDataDir } from '../../platform/data-dir.ts'
import { readPrivate, writePrivate } from '../../platform/private-files.ts'
import { filterWorkingKeys } from '../../tenants/keys/authenticate.ts'
import { findFirstOrgAndTeam } from '../../tenants/teams/orgs.ts'
import { type Keys, provideKeys } from './actions.ts'
import { mayCreateKeys } from './rules.ts'

export type Credentials = {
  path: string
  /** Whether this start created or replaced a key. */
  hasNewKeys: boolean
  base_url: string
  org_id?: string
  team_id?: string
  team_api_key?: string
  management_key?: string
}

const FILE = 'credentials.json'

/** Writes the first keys to DATA_DIR at each start: the operator's, else those of an earlier start, else new ones in the sandbox. */
export async function openCredentials(app: App, ownUrl: string): Promise<Credentials> {
  const { base_url: storedUrl, ...keysInFile } = parseFile(readPrivate(inDataDir(app.config, FILE)) ?? '')
  const stored: Partial<Keys> = await filterWorkingKeys(app, keysInFile)
  // A worker has no API, and a process that has may share its folder.
  const base_url = app.config.ROLE === 'worker' ? (storedUrl ?? ownUrl) : ownUrl
  const { BOOTSTRAP_TEAM_API_KEY, BOOTSTRAP_MANAGEMENT_KEY } = app.config
  const preset = {
    team_api_key: BOOTSTRAP_TEAM_API_KEY ?? stored.team_api_key,
    management_key: BOOTSTRAP_MANAGEMENT_KEY ?? stored.management_key,
  }
  const keys = mayCreateKeys(app.config)
    ? await provideKeys(app, preset, { org: 'First organization', team: 'First team', plan: 'scale' })
    : { ...(await findFirstIds(app)), ...stored }
  const path = inDataDir(app.config, FILE)
  writePrivate(path, `${JSON.stringify({ base_url, ...keys }, null, 2)}\n`)
  const hasNewKeys = keys.team_api_key !== stored.team_api_key || keys.management_key !== stored.management_key
  return { path, hasNewKeys, base_url, ...keys }
}

/** The file may have been edited by hand, so anything that is not text is ignored. */
function parseFile(text: string): {
  base_url?: string | undefined
  team_api_key?: string | undefined
  management_key?: string | undefined
} {
  try {
    const { base_url, team_api_key, management_key } = JSON.parse(text)
    return {
      base_url: textOrUndefined(base_url),
      team_api_key: textOrUndefined(team_api_key),
      management_key: textOrUndefined(management_key),
    }
  } catch {
    return {}
  }
}

const textOrUndefined = (value: unknown) => (typeof value === 'string' ? value : undefined)

async function findFirstIds(app: App) {
  const found = await findFirstOrgAndTeam(app)
  return { ...(found && { org_id: found.org.id }), ...(found?.team && { team_id: found.team.id }) }
}
