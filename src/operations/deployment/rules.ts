import { timingSafeEqual } from 'node:crypto'
import { type Config, deploymentName } from '../../platform/config.ts'
import { setupProblem } from '../../platform/problem.ts'
import { deploymentOfKey, isLabKey, isManagementKey } from '../../tenants/keys/rules.ts'

type Deployment = { environment: string; region: string }
type Identity = Deployment & { key_check: Buffer }

/** A database and its backups belong to one deployment and one key. */
export function checkDatabase(stored: Identity, ours: Identity, subject = 'database') {
  checkDeployment(stored, ours, subject)
  if (!timingSafeEqual(stored.key_check, ours.key_check))
    throw setupProblem(`The root secret of the ${subject} is not its own: its root_keys were replaced; restore a backup`)
}

export function checkDeployment(stored: Deployment, ours: Deployment, subject = 'database') {
  if (stored.environment !== ours.environment || stored.region !== ours.region)
    throw setupProblem(
      `The ${subject} belongs to the ${stored.environment} ${stored.region} deployment, but ENVIRONMENT and REGION are set to ${ours.environment} ${ours.region}`,
    )
}

/** Runs before the database is touched, so that rejected settings never claim it. */
export const checkSettings = (config: Config) =>
  checkBootstrapKeys(deploymentName(config), config.BOOTSTRAP_TEAM_API_KEY, config.BOOTSTRAP_MANAGEMENT_KEY)

/** Bootstrap keys must have the right kind and belong to this deployment. */
export function checkBootstrapKeys(deployment: string, team: string | undefined, management: string | undefined) {
  if (team && isManagementKey(team)) throw setupProblem('BOOTSTRAP_TEAM_API_KEY is a management key; set a team API key')
  if (team && isLabKey(team)) throw setupProblem('BOOTSTRAP_TEAM_API_KEY is a lab key; set a team API key')
  if (management && isLabKey(management)) throw setupProblem('BOOTSTRAP_MANAGEMENT_KEY is a lab key; set a management key')
  const keyDeployment = team && deploymentOfKey(team)
  if (keyDeployment && keyDeployment !== deployment)
    throw setupProblem(`BOOTSTRAP_TEAM_API_KEY belongs to the ${keyDeployment} deployment; this is ${deployment}`)
  if (team && team === management)
    throw setupProblem('BOOTSTRAP_TEAM_API_KEY and BOOTSTRAP_MANAGEMENT_KEY are the same; use two different keys')
  if (management && deploymentOfKey(management)) throw setupProblem('BOOTSTRAP_MANAGEMENT_KEY is a team API key; set a management key')
}

type KeySettings = Pick<Config, 'ENVIRONMENT' | 'BOOTSTRAP_TEAM_API_KEY' | 'BOOTSTRAP_MANAGEMENT_KEY'>

/** A sandbox creates its own keys. Production uses only keys that the operator set. */
export const mayCreateKeys = ({ ENVIRONMENT, BOOTSTRAP_TEAM_API_KEY, BOOTSTRAP_MANAGEMENT_KEY }: KeySettings) =>
  ENVIRONMENT === 'sandbox' || Boolean(BOOTSTRAP_TEAM_API_KEY && BOOTSTRAP_MANAGEMENT_KEY)

export const emptyInProduction = () =>
  setupProblem(
    'The database is empty, and production does not create keys on its own; create the first organization, team and keys with: assay bootstrap --org NAME --team NAME (npm run --silent assay -- bootstrap …)',
  )
