import { createHmac, randomUUID } from 'node:crypto'
import { type App, type AtConsole, HOUR, inTransaction, later, MINUTE, type Visitor } from '../app.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import type { SignIn } from '../contract/sessions.ts'
import { managementCaller, teamKeyCaller } from '../keys/authenticate.ts'
import { hashOf, newSecret } from '../keys/rules.ts'
import { invalid, Problem, problem } from '../problem.ts'
import { derive } from '../sealing/seal.ts'
import { type Holder, ofManagementKey, ofTeamKey, sessionOf } from './authenticate.ts'
import { SESSION_PREFIX } from './rules.ts'
import * as store from './store.ts'

const WINDOW = 15 * MINUTE
const OF_ONE_EMAIL = 10
const OF_ONE_ADDRESS = 100

/** Whoever can show a credential; every failure counts and is audited. */
export async function signIn(app: App, visitor: Visitor, body: SignIn): Promise<Holder> {
  const turns = turnsOf(app, visitor, body)
  for (const { key, limit } of turns) await takeTurn(app, key, limit)
  const holder = await holderWith(app, body).catch(async (error) => {
    if (error instanceof Problem && error.kind === 'unauthenticated') await recordFailure(app, visitor)
    throw error
  })
  for (const { key, limit } of turns) await (limit === OF_ONE_EMAIL ? store.forgetTurns(app.db, key) : store.giveBackTurn(app.db, key))
  return holder
}

async function holderWith(app: App, body: SignIn): Promise<Holder> {
  const { management_key, team_api_key, email } = body
  if ([management_key, team_api_key, email].filter(Boolean).length !== 1)
    throw invalid(['body'], 'Send one of management_key, team_api_key, or email with password and code.')
  if (management_key) return ofManagementKey(await managementCaller(app, management_key.trim()))
  if (team_api_key) return ofTeamKey(await teamKeyCaller(app, team_api_key.trim()))
  throw problem('SIGN_IN_REFUSED', 'E-mail, password or code are wrong.')
}

const recordFailure = (app: App, { request_id }: Visitor) =>
  inTransaction(app, (app) =>
    recordChange(app, auditRow(app, { kind: 'visitor', console: {} }, { action: 'beginSession', status: 401, request_id })),
  )

/** Tries are counted by e-mail, whether there is such a person or not, and by address. */
function turnsOf(app: App, { address }: Visitor, { email }: SignIn) {
  const secret = derive(app.vault.root, 'sign-in turns')
  const key = (text: string) => createHmac('sha256', secret).update(text).digest()
  return [
    { key: key(`address ${address}`), limit: OF_ONE_ADDRESS },
    ...(email ? [{ key: key(`email ${email.trim().toLowerCase()}`), limit: OF_ONE_EMAIL }] : []),
  ]
}

async function takeTurn(app: App, key: Buffer, limit: number) {
  const { taken } = await store.takeTurn(app.db, key, app.wall(), later(app.wall(), -WINDOW))
  if (taken > limit) throw problem('TOO_MANY_SIGN_INS', 'Too many tries to sign in; wait for 15 minutes and try again.')
}

/** A new session with a new secret, whatever the browser had before. */
export const openSession = (app: App, visitor: Visitor, holder: Holder) =>
  inTransaction(app, async (app) => {
    if (visitor.session) await store.deleteByHash(app.db, hashOf(visitor.session))
    const secret = newSecret(SESSION_PREFIX)
    const at = app.wall()
    const { kind, actor_id, role, org_id } = holder
    const session = await store.insertSession(app.db, {
      id: randomUUID(),
      hash: hashOf(secret),
      org_id,
      [columns[kind]]: actor_id,
      created_at: at,
      seen_at: at,
      ends_at: later(at, app.config.CONSOLE_SESSION_HOURS * HOUR),
    })
    const console: AtConsole = { kind, actor_id, role, session_id: session.id }
    const caller = sessionOf(holder, console)
    const deed = { action: 'beginSession', subject: `session_id:${session.id}`, status: 200, request_id: visitor.request_id }
    await recordChange(app, auditRow(app, caller, deed))
    visitor.keepSession(secret)
    return { session, caller }
  })

const columns = { management: 'management_key_id', team: 'team_api_key_id', person: 'person_id' } as const

export const forgetOldTurns = (app: App) => store.deleteOldTurns(app.db, later(app.wall(), -WINDOW))
