import { createHmac, randomUUID } from 'node:crypto'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { ServiceAccount } from '../../contract/wearables/oauth-setting.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { publicUrl } from '../../platform/config.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { deriveSecret, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import { visibleTeams } from '../../tenants/teams/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The encrypted part of a credential. */
type Secrets = { client_id: string | null; client_secret: string | null; details: rules.Details | null }

type NewCredential = Partial<{ [K in keyof Secrets]: Secrets[K] | undefined }> & {
  team_id: string
  provider: SourceSlug
  redirect_url_override?: string | null | undefined
}

/** Creates or updates the OAuth credentials of a team at a source. Missing fields keep their values. */
export const putCredential = (
  app: App,
  caller: ManagementCaller,
  { team_id, provider, redirect_url_override: url, ...changes }: NewCredential,
) =>
  inTransaction(app, async (app) => {
    await requireTeam(app, caller, team_id)
    if (url) rules.checkOverride(url, app.config.ENVIRONMENT === 'sandbox')
    const key = await teamSealingKey(app, team_id)
    const before = await store.lockCredential(app.db, team_id, provider)
    const current = before ? openSecrets(key, before) : { client_id: null, client_secret: null, details: null }
    const secrets = { ...current, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) }
    rules.checkComplete(secrets)
    const id = before?.id ?? randomUUID()
    const now = app.wall()
    const row = await store.upsertCredential(app.db, {
      ...{ id, team_id, provider, created_at: now, updated_at: now },
      sealed: seal(key, associatedData(id), secrets),
      redirect_url_override: url === undefined ? (before?.redirect_url_override ?? null) : url,
    })
    return presentCredential(key, row)
  })

type Query = { team_id?: string[] | undefined; provider?: SourceSlug | null | undefined; next_cursor?: string | null | undefined }

export async function listCredentials(app: App, caller: ManagementCaller, query: Query) {
  const page = pageAfter(query.next_cursor)
  const teams = rules.narrowTeams(visibleTeams(caller), query.team_id)
  const found = await store.listCredentials(app.db, caller.org_id, teams, query.provider ?? undefined, page)
  const { rows, next_cursor } = pageOf(found, page, ({ created_at, id }) => ({ at: created_at, id }))
  const credentials = await Promise.all(rows.map(async (row) => presentCredential(await teamSealingKey(app, row.team_id), row)))
  return { credentials, next_cursor }
}

export const deleteCredentials = (app: App, caller: ManagementCaller, ids: string[]) =>
  inTransaction(app, async (app) => {
    const deleted: Pick<store.CredentialRow, 'team_id' | 'provider'>[] = []
    const success: string[] = []
    for (const credential of await store.findCredentials(app.db, caller.org_id, visibleTeams(caller), ids)) {
      if (!(await store.deleteCredential(app.db, credential))) continue
      success.push(credential.id)
      deleted.push(credential)
    }
    return { success, failure: [], not_found: ids.filter((id) => !success.includes(id)), deleted }
  })

/** Lists what a team must register at the source. */
export async function prepareCredential(
  app: App,
  caller: ManagementCaller,
  { team_id, provider }: { team_id: string; provider: SourceSlug },
) {
  await requireTeam(app, caller, team_id)
  const override = (await store.findCredential(app.db, team_id, provider))?.redirect_url_override
  return { status: 'preparations_required', preparation_steps: [redirectStep(app, override)] }
}

export const redirectStep = (app: App, override?: string | null) => ({
  ...{ type: 'redirect_uri', key: null, value: override ?? callbackUrl(app) },
  description: 'Register this as the redirect URI of your application at the source.',
})

/** The redirect URI for sources. */
export const callbackUrl = ({ config }: App) => `${publicUrl(config)}/v2/link/oauth/callback`

/** The sources with custom credentials of the team. */
export const listCustomSources = async (app: App, team_id: string) =>
  new Set<string>((await store.listProviders(app.db, team_id)).map(({ provider }) => provider))

/** The OAuth client of the team at a source, if it has one. */
export async function findTeamClient(app: App, team_id: string, provider: SourceSlug) {
  const row = await store.findCredential(app.db, team_id, provider)
  if (!row) return undefined
  const { client_id, client_secret, details } = openSecrets(await teamSealingKey(app, team_id), row)
  if (!client_id || !client_secret) return undefined
  const { data: service_account } = ServiceAccount.safeParse(details?.['service_account'])
  return { client_id, client_secret, redirect_uri: row.redirect_url_override ?? callbackUrl(app), service_account }
}

function presentCredential(key: SealingKey, row: store.CredentialRow) {
  const { client_id, client_secret, details } = openSecrets(key, row)
  return {
    ...row,
    source: row.provider,
    client_id,
    client_secret_hash: client_secret && fingerprint(key, client_secret),
    details: details && rules.maskCredential(details),
    app_url: null,
  }
}

/** Lets customers compare secrets without revealing them. */
const fingerprint = (key: SealingKey, secret: string) =>
  createHmac('sha256', deriveSecret(key, 'client secrets')).update(secret).digest('hex').slice(0, 16)

const openSecrets = (key: SealingKey, { id, sealed }: store.CredentialRow) => open<Secrets>(key, associatedData(id), sealed)

const associatedData = (id: string) => `team_credentials.sealed.${id}`
