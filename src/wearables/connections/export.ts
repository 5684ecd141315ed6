import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { openAccount } from './account.ts'
import type { Connection } from './actions.ts'
import * as store from './store.ts'

const PAGE_SIZE = 100

type ExportQuery = { provider: SourceSlug; user_ids?: string[] | null | undefined; next_token?: string | null | undefined }

/** Exports OAuth connections with their tokens. Other connections have none. */
export async function bulkExport(app: App, { team_id }: TeamCaller, { provider, user_ids = null, next_token }: ExportQuery) {
  const page = pageAfter(next_token, PAGE_SIZE, undefined, ['body', 'next_token'])
  const found = await store.pageOfConnections(app.db, team_id, provider, page, user_ids)
  const { rows, next_cursor } = pageOf(found, page, ({ created_at, id }) => ({ at: created_at, id }))
  const data = (await Promise.all(rows.map((row) => exportConnection(app, row)))).flat()
  return { data, next_token: next_cursor }
}

async function exportConnection(app: App, connection: Connection) {
  const { team_id, user_id, expires_at } = connection
  const key = await userSealingKey(app, team_id, user_id)
  const { tokens, external_user_id, grant } = key ? openAccount(key, connection) : {}
  if (!tokens) return []
  return [
    {
      user_id,
      access_token: tokens.access_token,
      refresh_token: tokens.refresh_token ?? '',
      provider_id: external_user_id ?? '',
      expires_at: expires_at ? Math.floor(Date.parse(expires_at) / 1000) : 0,
      oauth_scopes: grant?.granted ?? null,
    },
  ]
}
