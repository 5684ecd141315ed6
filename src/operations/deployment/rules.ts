import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { setupProblem } from '../../platform/problem.ts'
import { deploymentOfKey, isLabKey, isManagementKey } from '../../tenants/keys/rules.ts'

type Deployment = { environment: string; region: string; key_check: Buffer }

/** A database and its backups belong to one deployment and one key. */
export function checkDatabase(known: Deployment, here: Deployment, what = 'database') {
  if (known.environment !== here.environment || known.region !== here.region)
    throw setupProblem(
      `The ${what} belongs to the ${known.environment} ${known.region} deployment; ENVIRONMENT and REGION say ${here.environment} ${here.region}`,
    )
  if (!timingSafeEqual(known.key_check, here.key_check))
    throw setupProblem(`ENCRYPTION_KEY is not the key that encrypted this ${what}; use the key of the first start`)
}

/** A backup must come from this version or an older one. */
export function checkVersions(migrations: string[], ours: string[]) {
  const newer = migrations.filter((name) => !ours.includes(name))
  if (newer.length)
    throw setupProblem(`The backup comes from a newer version (${newer.sort().at(-1)}); restore it with that version or newer`)
}

export const notEmpty = () =>
  setupProblem(
    'The database is not empty, and a restore never overwrites data: set DATABASE_URL to an empty database, or DATA_DIR to an empty folder',
  )

/** Bootstrap keys must have the right kind and belong to this deployment. */
export function checkBootstrapKeys(deployment: string, team: string | undefined, management: string | undefined) {
  if (team && isManagementKey(team)) throw setupProblem('BOOTSTRAP_TEAM_API_KEY is a management key; a team API key is needed')
  if (team && isLabKey(team)) throw setupProblem('BOOTSTRAP_TEAM_API_KEY is a lab key; a team API key is needed')
  if (management && isLabKey(management)) throw setupProblem('BOOTSTRAP_MANAGEMENT_KEY is a lab key; a management key is needed')
  const named = team && deploymentOfKey(team)
  if (named && named !== deployment) throw setupProblem(`BOOTSTRAP_TEAM_API_KEY belongs to the ${named} deployment; this is ${deployment}`)
  if (team && team === management)
    throw setupProblem('BOOTSTRAP_TEAM_API_KEY and BOOTSTRAP_MANAGEMENT_KEY are the same; use two different keys')
  if (management && deploymentOfKey(management))
    throw setupProblem('BOOTSTRAP_MANAGEMENT_KEY is a team API key; a management key is needed')
}

type KeySettings = Pick<Config, 'ENVIRONMENT' | 'BOOTSTRAP_TEAM_API_KEY' | 'BOOTSTRAP_MANAGEMENT_KEY'>

/** A sandbox creates its own keys. Production uses only keys that the operator set. */
export const mayMakeKeys = ({ ENVIRONMENT, BOOTSTRAP_TEAM_API_KEY, BOOTSTRAP_MANAGEMENT_KEY }: KeySettings) =>
  ENVIRONMENT === 'sandbox' || Boolean(BOOTSTRAP_TEAM_API_KEY && BOOTSTRAP_MANAGEMENT_KEY)

export const emptyInProduction = () =>
  setupProblem(
    'The database is empty, and production does not create keys on its own; create the first organization, team and keys with: assay bootstrap --org NAME --team NAME (npm run --silent assay -- bootstrap …)',
  )
