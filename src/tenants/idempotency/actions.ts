import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { deriveSecret, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey, userSealingKey } from '../../platform/sealing/vault.ts'
import { HOUR, later, SECOND } from '../../platform/time.ts'
import { userDeleted } from '../users/rules.ts'
import * as store from './store.ts'

export type Outcome = { status: number; body: unknown }
type Attempt = { team_id: string; operation: string; key: string; request: unknown }

/** What the request that executes does with its outcome. */
export type IdempotencyLease = {
  /** Keeps an outcome whose action was rolled back. */
  keep(app: App, outcome: Outcome, user_id?: string): Promise<void>
  /** The outcome as a row, which commits together with the action or not at all. */
  row(app: App, outcome: Outcome, user_id?: string, user?: SealingKey): Promise<KeptOutcome>
  release(): Promise<void>
}

export type KeptOutcome = store.Slot & store.Kept & { owner: string }

const LEASE = 15 * SECOND
const PATIENCE = 10 * SECOND
const KEPT = 25 * HOUR

/** Answers the outcome that the key already has, or the turn to execute. Whoever waits holds no connection meanwhile. */
export async function claimLease(app: App, attempt: Attempt): Promise<{ turn: IdempotencyLease } | { outcome: Outcome }> {
  const team = await teamSealingKey(app, attempt.team_id)
  const slot = { team_id: attempt.team_id, operation: attempt.operation, key_hash: keyed(team, 'idempotency key', attempt.key) }
  const fingerprint = keyed(team, 'idempotency fingerprint', JSON.stringify(attempt.request))
  const owner = randomUUID()
  const giveUpAt = later(app.wall(), PATIENCE)
  for (let waited = 0; ; waited++) {
    const now = app.wall()
    const held = await store.claim(app.db, { ...slot, fingerprint, owner, now, leased_until: later(now, LEASE) })
    if (held?.owner === owner) return { turn: leaseOf(app, team, slot, owner) }
    // Gap 14: the spec is silent on a reused key with another body. We refuse, since replaying would answer the wrong question.
    if (held && !held.fingerprint.equals(fingerprint))
      throw problem('IDEMPOTENCY_KEY_REUSED', 'This X-Idempotency-Key was used with another request; use a new key for a new request.')
    if (held?.status && held.user_deleted) throw userDeleted()
    const outcome = held && held.status !== null ? await outcomeOf(app, team, slot, held) : undefined
    if (outcome) return { outcome }
    if (now > giveUpAt)
      throw problem(
        'IDEMPOTENCY_IN_FLIGHT',
        'A request with this X-Idempotency-Key is still being executed; send it again in a few seconds.',
      )
    await pause(Math.min(250, 20 * (waited + 1)))
  }
}

/** Deletes the kept outcomes of a team in the caller's transaction. Requests that still run keep their lease. */
export const deleteOutcomesOf = (app: AppInTransaction, team_id: string) => store.deleteOutcomesOf(app.db, team_id)

export const pruneIdempotency = (app: App) => store.deleteOlderThan(app.db, later(app.wall(), -KEPT))

function leaseOf(app: App, team: SealingKey, slot: store.Slot, owner: string): IdempotencyLease {
  const renewal = setInterval(() => store.renew(app.db, slot, owner, later(app.wall(), LEASE)).catch(() => {}), LEASE / 3).unref()
  async function row(app: App, outcome: Outcome, user_id?: string, known?: SealingKey) {
    clearInterval(renewal)
    const user = known ?? (user_id ? await userSealingKey(app, slot.team_id, user_id) : undefined)
    return { ...slot, ...sealedOutcome(user ?? team, slot, outcome), user_id: (user && user_id) ?? null, owner }
  }
  return {
    row,
    async keep(app, outcome, user_id) {
      if (!(await store.complete(app.db, slot, owner, await row(app, outcome, user_id)))) throw leaseLost()
    },
    async release() {
      clearInterval(renewal)
      await store.release(app.db, slot, owner)
    },
  }
}

const sealedOutcome = (key: SealingKey, slot: store.Slot, { status, body }: Outcome) => ({
  status,
  sealed: seal(key, associatedData(slot), { body }),
})

/** Somebody else took the slot meanwhile. */
export const leaseLost = () =>
  problem('IDEMPOTENCY_IN_FLIGHT', 'The request took too long and another one took over; send it again in a few seconds.')

/** What was kept, or undefined if its user was erased since the row was read. */
async function outcomeOf(app: App, team: SealingKey, slot: store.Slot, kept: store.Kept): Promise<Outcome | undefined> {
  const key = kept.user_id ? await userSealingKey(app, slot.team_id, kept.user_id) : team
  return key && { status: kept.status, body: open<{ body: unknown }>(key, associatedData(slot), kept.sealed).body }
}

const associatedData = (slot: store.Slot) => `idempotency_keys.sealed.${slot.team_id}.${slot.operation}.${slot.key_hash.toString('hex')}`

const keyed = (team: SealingKey, purpose: string, text: string) => createHmac('sha256', deriveSecret(team, purpose)).update(text).digest()
