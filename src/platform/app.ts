import type { Logger } from 'pino'
import type { ConsoleRole } from '../contract/tenants/sessions.ts'
import type { Config } from './config.ts'
import { type Db, isDeadlock } from './db/open.ts'
import type { RequestRows } from './db/request-rows.ts'
import type { LastUses } from './last-uses.ts'
import type { SealingKey } from './sealing/seal.ts'
import type { Vault } from './sealing/vault.ts'

/** Everything an action needs, passed first. */
export type App = {
  config: Config
  db: Db
  vault: Vault
  lastUses: LastUses
  log: Logger
  /** The domain clock: real time, moved by the offset of the caller's team in the sandbox. ISO text. */
  now(): string
  /** Real time: leases, tokens, retention, audit. ISO text. */
  wall(): string
  /** Set inside a transaction. */
  transaction?: true
  /** Looks for due work now instead of at the next turn. Call it after the commit. */
  wake(job: string, about?: Iterable<string>): void
  /** The webhooks that a transaction has something for, until it commits. */
  told?: Set<string>
  /** Set where the answer is a stream: the caller has gone, or we stop. */
  ends?: AbortSignal | undefined
  /** Set for a request. */
  visitor?: Visitor
  /** What a request commits together with the action: its audit row and its idempotent outcome. */
  beforeCommit?: ((app: App, result: unknown) => Promise<void>) | undefined
  /** The same rows for an action that writes everything in one statement of its own. */
  along?: ((result: unknown, user: SealingKey) => Promise<RequestRows>) | undefined
}

/** Where a request comes from, for those that begin or end a console session. */
export type Visitor = {
  address: string
  request_id: string
  /** The session that the browser has, whether it is still good or not. */
  session?: string | undefined
  /** Hands the browser its session, or takes it away. */
  keepSession(secret: string | null): void
}

/** Somebody at the console: by a key or as a person, with the role of either. */
export type AtConsole = {
  kind: 'management' | 'team' | 'person'
  actor_id: string
  session_id: string
  role: ConsoleRole
  /** The reason given for seeing personal data; without one it is masked. */
  reason?: string | undefined
  /** An open page asks by itself; nobody asked it to. */
  background?: true
}

export type TeamCaller = {
  kind: 'team'
  /** Came with an access token; `key_id` is then the management key that minted it. */
  token?: true
  /** Came with a user's sign-in token, which is good for this user only. */
  user_id?: string
  org_id: string
  team_id: string
  key_id: string
  /** Came with a console session; `key_id` is then the key or the person. */
  console?: AtConsole
  read_only: boolean
  plan: string
  betas: string[]
  clock_offset_ms: number
}

export type ManagementCaller = {
  kind: 'management'
  org_id: string
  /** Null for the operator at the command line, and for a person at the console. */
  key_id: string | null
  console?: AtConsole
  plan: string
  /** The teams a Team Management Key is bound to; undefined for an Org Management Key. */
  team_ids: string[] | undefined
}

/** A partner laboratory; it belongs to no organisation and to no team. */
export type LabCaller = { kind: 'lab'; lab_id: number; key_id: string }

/** Somebody who connects a source for one user; `key_id` is the link token's. */
export type LinkCaller = { kind: 'link'; org_id: string; team_id: string; user_id: string; key_id: string; clock_offset_ms: number }

/** A console session itself, whatever it is used for. */
export type SessionCaller = {
  kind: 'session'
  org_id: string
  plan: string
  /** Of a team key. */
  team_id: string | undefined
  team_ids: string[] | undefined
  console: AtConsole
}

export type Caller = TeamCaller | ManagementCaller | LabCaller | LinkCaller | SessionCaller

const TRIES = 3

/** For work that has to begin anew further back where its transaction was undone. */
export const ONCE = TRIES

/** The same app for a transaction on the way: the request's own rows are written at its end. */
export const quietly = (app: App): App => ({ ...app, beforeCommit: undefined, along: undefined })

/** Runs `work` in a transaction, or in the caller's if there is one. Use the app it hands out: the outer `db` escapes the transaction. */
export async function inTransaction<T>(app: App, work: (app: App) => Promise<T>, tries = 1): Promise<T> {
  if (app.transaction) return work(app)
  const told = new Set<string>()
  try {
    const result = await app.db.transaction().execute(async (db) => {
      const inside: App = { ...app, db, transaction: true, told }
      const result = await work(inside)
      await app.beforeCommit?.(inside, result)
      return result
    })
    if (told.size) wakeFor(app, told)
    return result
  } catch (error) {
    // Two that waited for each other: PostgreSQL undid this one, so it can go again.
    if (!isDeadlock(error) || tries === TRIES) throw error
    return inTransaction(app, work, tries + 1)
  }
}

export const DELIVER = 'deliver'
export const NUMBER = 'number events'

/** A strict webhook is told once the event has its number. */
function wakeFor(app: App, webhook_ids: Iterable<string>) {
  app.wake(DELIVER, webhook_ids)
  app.wake(NUMBER)
}

/** Something waits for these webhooks: once the transaction has committed, or now. */
export function told(app: App, webhook_ids: string[]) {
  if (app.told) for (const id of webhook_ids) app.told.add(id)
  else if (webhook_ids.length) wakeFor(app, webhook_ids)
}

export const later = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString()

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
