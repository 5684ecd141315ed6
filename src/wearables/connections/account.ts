import { createHmac } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { deriveSecret, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { Grant } from './rules.ts'
import type { ConnectionRow } from './store.ts'

type Tokens = { access_token: string; refresh_token: string | null }

/** The encrypted part of a connection: the user's account at the source and its tokens. */
export type Account = { external_user_id: string | null; tokens?: Tokens; grant?: Grant; region?: string }

export const noAccount: Account = { external_user_id: null }

export const sealAccount = (key: SealingKey, id: string, account: Account) => seal(key, associatedData(id), account)

export const openAccount = (key: SealingKey, { id, sealed }: Pick<ConnectionRow, 'id' | 'sealed'>) =>
  open<Account>(key, associatedData(id), sealed)

/** A keyed hash for comparing accounts without revealing them. */
export async function accountHash(app: App, team_id: string, provider: string, { external_user_id }: Account) {
  if (external_user_id === null) return null
  const secret = deriveSecret(await teamSealingKey(app, team_id), 'accounts at sources')
  return createHmac('sha256', secret).update(`${provider} ${external_user_id}`).digest()
}

const associatedData = (id: string) => `connections.sealed.${id}`
