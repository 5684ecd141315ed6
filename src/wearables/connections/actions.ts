import { randomUUID } from 'node:crypto'
import { isSource, type SourceSlug } from '../../contract/tenants/sources.ts'
import { emit } from '../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import { lockUser, requireUser, type UserRow, unwrapUserKey } from '../../tenants/users/actions.ts'
import { type Account, accountHash, noAccount, openAccount, sealAccount } from './account.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Connection = store.ConnectionRow
export type Kind = 'push' | 'oauth' | 'password' | 'email' | 'demo'
type NewConnection = { kind: Kind; account?: Account; expires_at?: string | null }

type UserScope = { team_id: string; user_id: string }

export const connectionFor = (app: App, { team_id, user_id }: UserScope, provider: SourceSlug) =>
  store.findConnection(app.db, team_id, user_id, provider)

export const connectionsOfUser = (app: App, { team_id, user_id }: UserScope) => store.listConnections(app.db, team_id, [user_id])

/** Whether `connectionFor` finds one. Every push asks this. */
export const hasConnection = (app: App, { team_id, user_id }: UserScope, provider: SourceSlug) =>
  store.hasConnection(app.db, team_id, user_id, provider)

/** A connection that has not ended. */
export const connectionById = (app: App, team_id: string, id: string) => store.findConnectionById(app.db, team_id, id)

/** Rejects data of a disconnected source from every sender. */
export async function rejectEnded(app: App, { team_id, user_id }: UserScope, provider: SourceSlug) {
  if (await store.findEnded(app.db, team_id, user_id, provider)) throw rules.connectionEnded()
}

/** Returns the connection to a source. Creates it and emits an event if there is none. */
export const ensureConnection = (app: App, user: UserRow, provider: SourceSlug, kind: Kind) =>
  inTransaction(
    app,
    async (app) =>
      (await connectionFor(app, user, provider)) ?? (await createConnection(app, user, provider, { kind }).then(({ row }) => row)),
  )

/** Connects an account at a source or replaces its tokens. Emits an event unless the user was already connected. */
export const linkConnection = (app: App, user: UserRow, provider: SourceSlug, newConnection: NewConnection) =>
  inTransaction(app, async (app) => {
    const { row, isNew } = await createConnection(app, user, provider, newConnection)
    return isNew ? row : renewConnection(app, user, row, newConnection)
  })

async function createConnection(app: AppInTransaction, user: UserRow, provider: SourceSlug, newConnection: NewConnection) {
  const { team_id, user_id } = user
  // lockUser rejects a user who is being deleted.
  await lockUser(app, team_id, user_id)
  // An existing connection can end while this one waits for its lock, so the insert is retried.
  for (;;) {
    const row = await insertConnection(app, user, provider, newConnection)
    if (row) return { row, isNew: true }
    const existing = await store.lockConnection(app.db, team_id, user_id, provider)
    if (existing) return { row: existing, isNew: false }
  }
}

async function insertConnection(
  app: AppInTransaction,
  user: UserRow,
  provider: SourceSlug,
  { kind, account = noAccount, expires_at = null }: NewConnection,
) {
  const { team_id, user_id } = user
  const key = await unwrapUserKey(app, user)
  const id = randomUUID()
  const now = app.now()
  const row = await store.insertConnection(app.db, {
    ...{ id, team_id, user_id, provider, kind, expires_at },
    account_hash: await accountHash(app, team_id, provider, account),
    sealed: sealAccount(key, id, account),
    ...{ created_at: now, updated_at: now },
  })
  if (!row) return undefined
  await store.deleteClosed(app.db, team_id, user_id, provider)
  await emitCreated(app, user, key, row)
  return row
}

async function renewConnection(
  app: AppInTransaction,
  user: UserRow,
  before: Connection,
  { kind, account = noAccount, expires_at = null }: NewConnection,
) {
  const key = await unwrapUserKey(app, user)
  const row = await store.updateConnection(app.db, before, {
    ...{ kind, expires_at, status: 'connected', renewing_until: null, error_type: null, error_message: null, errored_at: null },
    account_hash: await accountHash(app, before.team_id, before.provider, account),
    sealed: sealAccount(key, before.id, account),
    updated_at: app.now(),
  })
  if (row && before.status !== 'connected') await emitCreated(app, user, key, row)
  return row as Connection
}

async function emitCreated(app: AppInTransaction, { team_id, user_id, client_user_id }: UserRow, key: SealingKey, row: Connection) {
  if (!isSource(row.provider)) return
  const provider = providerOf(app, row.provider)
  const { external_user_id, grant } = openAccount(key, row)
  const resource_availability = rules.availabilityOf(row.provider, grant)
  await emit(app, key, {
    ...{ team_id, user_id, client_user_id, event_type: 'provider.connection.created', key: eventKey(row), at: row.updated_at },
    data: { user_id, provider, source: provider, external_user_id, resource_availability },
  })
}

const eventKey = ({ user_id, provider }: Connection) => `connection ${user_id} ${provider}`

/** Marks a connection as broken and emits one event. */
export const failConnection = (app: App, connection: Connection, failure: { error_type: string; message: string; details?: string }) =>
  inTransaction(app, async (app) => {
    const { team_id, user_id, provider } = connection
    const before = await store.lockConnection(app.db, team_id, user_id, provider)
    if (before?.id !== connection.id || before.status !== 'connected') return
    const now = app.now()
    const { error_type, message } = failure
    await store.updateConnection(app.db, before, { status: 'error', error_type, error_message: message, errored_at: now, updated_at: now })
    const user = await requireUser(app, team_id, user_id)
    await emit(app, await unwrapUserKey(app, user), {
      ...{
        team_id,
        user_id,
        client_user_id: user.client_user_id,
        event_type: 'provider.connection.error',
        key: eventKey(before),
        at: now,
      },
      data: { user_id, provider, message, error_type, error_details: failure.details ?? message },
    })
  })

export async function listConnections(app: App, { team_id }: TeamCaller, user_id: string) {
  const user = await requireUser(app, team_id, user_id)
  const key = await unwrapUserKey(app, user)
  const rows = await store.listConnections(app.db, team_id, [user_id])
  return { providers: rows.flatMap((row) => presentConnection(app, key, row)) }
}

function presentConnection(app: App, key: SealingKey, row: Connection) {
  if (!isSource(row.provider)) return []
  const { external_user_id, grant } = openAccount(key, row)
  return {
    ...providerOf(app, row.provider),
    created_on: row.created_at,
    status: row.status,
    external_user_id,
    error_details:
      row.error_type === null
        ? null
        : { error_type: row.error_type, error_message: row.error_message as string, errored_at: row.errored_at as string },
    resource_availability: rules.availabilityOf(row.provider, grant),
  }
}

/** Ends a connection in the caller's transaction. A job deregisters the user at the source. */
export async function endConnection(app: AppInTransaction, { team_id, user_id }: UserScope, provider: SourceSlug) {
  const connection = await store.lockConnection(app.db, team_id, user_id, provider)
  if (!connection) throw rules.notConnected()
  await store.updateConnection(app.db, connection, { ended_at: app.now(), deregister_at: app.wall() })
  return connection
}

/** Ends every connection of a deleted user in the caller's transaction. A job notifies the sources. */
export const endConnections = (app: AppInTransaction, { team_id }: TeamCaller, user_id: string) =>
  store.endConnections(app.db, team_id, user_id, { ended_at: app.now(), deregister_at: app.wall() })

/** Connects a source that pushes. */
export const connectPushSource = (
  app: App,
  { team_id }: TeamCaller,
  provider: SourceSlug,
  { user_id, provider_id }: { user_id: string; provider_id?: string | null | undefined },
) =>
  inTransaction(app, async (app) => {
    const user = await requireUser(app, team_id, user_id)
    if (provider_id) await linkConnection(app, user, provider, { kind: 'push', account: { external_user_id: provider_id } })
    else await ensureConnection(app, user, provider, 'push')
    return { success: true }
  })

/** Whether another user of the team has this account. Always false unless the team rejects duplicates. */
export async function isAccountTaken(app: AppInTransaction, { team_id, user_id }: UserScope, provider: SourceSlug, account_hash: Buffer) {
  if (!(await store.lockIfDuplicatesRejected(app.db, team_id))) return false
  return (await store.findSameAccount(app.db, team_id, user_id, provider, account_hash)) !== undefined
}

/** Whether a team has connections to a source through OAuth. */
export const hasConnections = async (app: App, team_id: string, provider: SourceSlug) =>
  (await store.findOAuthConnection(app.db, team_id, provider)) !== undefined

/** The connections of an account at a source, in one team or in all of them. */
export async function connectionsOfAccount(app: App, provider: SourceSlug, external_user_id: string, team_ids: string[]) {
  const hashes = await Promise.all(team_ids.map((id) => accountHash(app, id, provider, { external_user_id })))
  return hashes.length ? store.findAccounts(app.db, provider, team_ids, hashes as Buffer[]) : []
}
