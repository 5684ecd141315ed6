import { byteaText, type JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'
import { type Account, accountHash } from './account.ts'
import { type DeviceDescription, fingerprintOf } from './devices.ts'

export const parts: Part[] = [
  {
    table: 'connections',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: ['created_at', 'id'],
    drop: ['account_hash', 'renewing_until', 'pull_due_at', 'pull_tries', 'deregister_tries', 'deregister_at'],
    secret: ['tokens'],
    // An ended connection stays in the table only until it is deregistered.
    isExported: ({ ended_at }) => ended_at === null,
    adapt: (rows, { app }) => rows.map((row) => requireReconnect(row, app.now())),
    async rehash({ provider, sealed }, { app, team_id }) {
      const hash = await accountHash(app, team_id, provider as string, sealed as Account)
      return { account_hash: hash && byteaText(hash) }
    },
  },
  {
    table: 'devices',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: ['created_at', 'id'],
    drop: ['fingerprint'],
    rehash: ({ sealed }, { key }) => ({ fingerprint: byteaText(fingerprintOf(key, sealed as DeviceDescription)) }),
  },
]

/** Exports contain no tokens, so the user has to connect the source again. */
const requireReconnect = (connection: JsonRow, at: string) =>
  connection['kind'] !== 'oauth'
    ? connection
    : {
        ...connection,
        status: 'error',
        error_type: 'token_refresh_failed',
        error_message: 'The connection was imported without its tokens. The user has to connect again.',
        errored_at: at,
        expires_at: null,
      }
