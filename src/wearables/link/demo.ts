import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction, withoutRequestRows } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { lockUser, type UserRow } from '../../tenants/users/actions.ts'
import { connectionFor, linkConnection } from '../connections/actions.ts'
import { pullAll, schedulePull } from '../pulls/actions.ts'
import { adapterFor } from '../pulls/adapters.ts'
import { localDay, zoneClock } from '../time/rules.ts'
import * as rules from './rules.ts'
import type { LiveToken } from './store.ts'
import { consumeToken } from './tokens.ts'

type DemoRequest = { user_id: string; provider: SourceSlug; day?: string | null | undefined }

/** Connects a demo source and loads history, live data and, if requested, one more day. */
export async function connectDemo(app: App, { team_id }: TeamCaller, { user_id, provider, day }: DemoRequest) {
  const bareApp = withoutRequestRows(app)
  const { connection, isNew } = await inTransaction(bareApp, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    if (day && day > todayOf(app, user)) throw invalid(['body', 'day'], "Must not be in the future on the team's clock.")
    if (day && day < '1901') throw invalid(['body', 'day'], 'Must be 1901-01-01 or later.')
    return ensureDemoConnection(app, user, provider)
  })
  if (isNew) await pullAll(bareApp, connection)
  if (day) await adapterFor(connection).pullDay?.(bareApp, connection, day)
  const { name } = sources[provider]
  return { success: true, detail: isNew ? `${name} is connected as a demo.` : `${name} is already connected as a demo.` }
}

function todayOf(app: App, { time_zone }: UserRow) {
  const now = Date.parse(app.now())
  return localDay(now, zoneClock(time_zone)(now))
}

/** Connects a demo source and consumes the token. The data follows after the commit. */
export async function connectAsDemo(app: App, { team_id, user_id, id }: LiveToken, provider: SourceSlug): Promise<rules.Outcome> {
  const result = await inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const tokenError = await consumeToken(app, team_id, id)
    return tokenError
      ? { outcome: rules.linkFailed(tokenError) }
      : { outcome: rules.linkSucceeded, ...(await ensureDemoConnection(app, user, provider)) }
  })
  if ('connection' in result && result.isNew) await pullAll(withoutRequestRows(app), result.connection)
  return result.outcome
}

/** Creates a demo connection and schedules its pull in the caller's transaction. An existing one stays. */
export async function ensureDemoConnection(app: AppInTransaction, user: UserRow, provider: SourceSlug) {
  const before = await connectionFor(app, user, provider)
  if (before && before.kind !== 'demo') throw realConnectionExists(provider)
  if (before?.status === 'connected') return { connection: before, isNew: false }
  return { connection: await schedulePull(app, await linkConnection(app, user, provider, { kind: 'demo' })), isNew: true }
}

const realConnectionExists = (provider: SourceSlug) =>
  problem(
    'CONNECTION_IS_NO_DEMO',
    `The user has a real connection to ${sources[provider].name}. Disconnect it with DELETE /v2/user/{user_id}/${provider}, or choose another source for the demo.`,
  )
