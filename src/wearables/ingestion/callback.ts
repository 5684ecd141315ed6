import { createHmac } from 'node:crypto'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import { isSameText } from '../../platform/sealing/same-bytes.ts'
import { deriveSecret, type SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { derivedTeamSecret, teamOfSecret } from '../../tenants/keys/rules.ts'
import { findTeamClient } from '../team-sources/credentials.ts'
import { clientFor } from '../team-sources/oauth-client.ts'

/** Stands for the deployment in secrets of its own application. */
const DEPLOYMENT = '00000000-0000-0000-0000-000000000000'
const PREFIX = 'wh_'

/** The application that notifications are for: of a team, or of the deployment. */
type Application = { team_id: string | undefined; key: SealingKey; provider: SourceSlug }

/** The callback URL and the token that prove that a request is a notification for this application. They are derived, so they need no row. */
export async function callbackOf(app: App, team_id: string, provider: SourceSlug) {
  const isOwn = (await findTeamClient(app, team_id, provider)) !== undefined
  const application = isOwn
    ? { team_id, key: await teamSealingKey(app, team_id), provider }
    : { team_id: undefined, key: app.vault.root, provider }
  return { callback_url: urlOf(app, application), verification_token: verificationOf(application) }
}

/** The callback URL of the application of a team, which it registers before it sets the credentials. */
export const teamCallbackUrl = async (app: App, team_id: string, provider: SourceSlug) =>
  urlOf(app, { team_id, key: await teamSealingKey(app, team_id), provider })

/** The callback URL of the application of the deployment. */
export const deploymentCallbackUrl = (app: App, provider: SourceSlug) => urlOf(app, { team_id: undefined, key: app.vault.root, provider })

const urlOf = (app: App, application: Application) =>
  `${publicUrl(app.config)}/providers/${application.provider}/webhook/${secretOf(application)}`

const secretOf = ({ team_id, key, provider }: Application) =>
  derivedTeamSecret(PREFIX, team_id ?? DEPLOYMENT, derived(key, provider, 'path'))

const verificationOf = ({ key, provider }: Application) => derived(key, provider, 'verification').subarray(0, 24).toString('base64url')

const derived = (key: SealingKey, provider: string, purpose: string) =>
  createHmac('sha512', deriveSecret(key, 'notifications of sources')).update(`${provider} ${purpose}`).digest()

/** The application whose callback URL has this secret. Undefined if there is none. */
export async function applicationOf(app: App, provider: SourceSlug, secret: string) {
  const named = teamOfSecret(secret)
  if (!named) return undefined
  const team_id = named === DEPLOYMENT ? undefined : named
  const keys = team_id ? await teamKey(app, team_id) : app.vault.roots.map(({ key }) => key)
  const key = keys.find((key) => isSameText(secretOf({ team_id, key, provider }), secret))
  if (!key) return undefined
  const own = team_id ? await findTeamClient(app, team_id, provider) : undefined
  const client = team_id && !own ? undefined : await clientFor(app, team_id ?? DEPLOYMENT, provider)
  return client && { team_id, client, verification_token: verificationOf({ team_id, key, provider }) }
}

/** A team that was deleted has no key. */
const teamKey = (app: App, team_id: string) =>
  teamSealingKey(app, team_id).then(
    (key) => [key],
    () => [],
  )
