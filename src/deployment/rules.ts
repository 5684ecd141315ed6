import { timingSafeEqual } from 'node:crypto'
import { deploymentOfKey, isManagementKey } from '../keys/rules.ts'
import { setupProblem } from '../problem.ts'

type Deployment = { environment: string; region: string; key_check: Buffer }

/** A database belongs to one deployment and one key. */
export function checkDeployment(known: Deployment, here: Deployment) {
  if (known.environment !== here.environment || known.region !== here.region)
    throw setupProblem(
      `The database belongs to the ${known.environment} ${known.region} deployment; ENVIRONMENT and REGION say ${here.environment} ${here.region}`,
    )
  if (!timingSafeEqual(known.key_check, here.key_check))
    throw setupProblem('ENCRYPTION_KEY is not the key that this database was sealed with; start with the key of the first start')
}

/** Fixed keys must be what their setting says, and of this deployment. */
export function checkBootstrapKeys(deployment: string, team: string | undefined, management: string | undefined) {
  if (team && isManagementKey(team)) throw setupProblem('BOOTSTRAP_TEAM_API_KEY is a management key; a team API key is needed')
  const named = team && deploymentOfKey(team)
  if (named && named !== deployment) throw setupProblem(`BOOTSTRAP_TEAM_API_KEY belongs to the ${named} deployment; this is ${deployment}`)
  if (management && deploymentOfKey(management))
    throw setupProblem('BOOTSTRAP_MANAGEMENT_KEY is a team API key; a management key is needed')
}
