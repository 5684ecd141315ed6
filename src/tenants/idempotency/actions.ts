import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { retryDeadlocks } from '../../platform/db/deadlocks.ts'
import { isDatabaseUnavailable } from '../../platform/db/errors.ts'
import { problem } from '../../platform/problem.ts'
import { deriveSecret, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey, userSealingKey } from '../../platform/sealing/vault.ts'
import { HOUR, later, SECOND } from '../../platform/time.ts'
import { userDeleted } from '../users/rules.ts'
import * as store from './store.ts'

export type Outcome = { status: number; body: unknown }
type Attempt = { team_id: string; operation: string; key: string; request: unknown }

/** Lets the request that holds the lease store its outcome. */
export type IdempotencyLease = {
  /** Stores the outcome of an action that was rolled back. */
  storeOutcome(app: App, outcome: Outcome, user_id?: string): Promise<void>
  /** Ends the renewal, and builds the outcome's row, which commits in the action's transaction. */
  end(app: App, outcome: Outcome, user_id?: string, user?: SealingKey): Promise<OutcomeRow>
  release(): Promise<void>
}

type OutcomeRow = store.Slot & store.StoredOutcome & { owner: string }

const LEASE_MS = 15 * SECOND
const MAX_WAIT_MS = 10 * SECOND
const RETENTION_MS = 25 * HOUR
const RELEASE_RETRY_MS = SECOND / 4

/** Returns the outcome stored under the key, or a lease to execute. A waiting request holds no database connection. */
export async function claimLease(app: App, attempt: Attempt): Promise<{ lease: IdempotencyLease } | { outcome: Outcome }> {
  const team = await teamSealingKey(app, attempt.team_id)
  const slot = { team_id: attempt.team_id, operation: attempt.operation, key_hash: hmacWith(team, 'idempotency key', attempt.key) }
  const fingerprint = hmacWith(team, 'idempotency fingerprint', JSON.stringify(attempt.request))
  const owner = randomUUID()
  const giveUpAt = later(app.wall(), MAX_WAIT_MS)
  for (let polls = 0; ; polls++) {
    const now = app.wall()
    const claim = { ...slot, fingerprint, owner, now, leased_until: later(now, LEASE_MS) }
    // The claim may have been committed although its response was lost.
    const held = await retryDeadlocks(() => store.claim(app.db, claim)).catch((error) => releaseAfter(error, app, slot, owner))
    if (held?.owner === owner) return { lease: createLease(app, team, slot, owner) }
    // Gap 14: the specification does not cover a reused key with another body. A replay would return the outcome of another request.
    if (held && !held.fingerprint.equals(fingerprint))
      throw problem('IDEMPOTENCY_KEY_REUSED', 'You already used this X-Idempotency-Key with a different request. Send a new key.')
    if (held?.status && held.user_deleted) throw userDeleted()
    const outcome = held && held.status !== null ? await decryptOutcome(app, team, slot, held) : undefined
    if (outcome) return { outcome }
    if (now > giveUpAt)
      throw problem('IDEMPOTENCY_IN_FLIGHT', 'A request with this X-Idempotency-Key is still running. Retry in a few seconds.')
    await pause(Math.min(250, 20 * (polls + 1)))
  }
}

/** Deletes a team's stored outcomes in the caller's transaction. Running requests keep their lease. */
export const deleteOutcomesOf = (app: AppInTransaction, team_id: string) => store.deleteOutcomesOf(app.db, team_id)

export const pruneIdempotency = (app: App) => store.deleteOlderThan(app.db, later(app.wall(), -RETENTION_MS))

function createLease(app: App, team: SealingKey, slot: store.Slot, owner: string): IdempotencyLease {
  const renewal = setInterval(() => store.renew(app.db, slot, owner, later(app.wall(), LEASE_MS)).catch(() => {}), LEASE_MS / 3).unref()
  async function end(app: App, outcome: Outcome, user_id?: string, userKey?: SealingKey) {
    clearInterval(renewal)
    const user = userKey ?? (user_id ? await userSealingKey(app, slot.team_id, user_id) : undefined)
    return { ...slot, ...encryptOutcome(user ?? team, slot, outcome), user_id: (user && user_id) ?? null, owner }
  }
  return {
    end,
    async storeOutcome(app, outcome, user_id) {
      const row = await end(app, outcome, user_id)
      const isStored = await store.complete(app.db, slot, owner, row).catch((error) => releaseAfter(error, app, slot, owner))
      if (!isStored) throw leaseLost()
    },
    async release() {
      clearInterval(renewal)
      await store.release(app.db, slot, owner).catch((error) => releaseAfter(error, app, slot, owner))
    },
  }
}

/** Releases the key once the database is back, so that a retry does not wait for the end of the lease. An outcome that was stored stays. */
function releaseAfter(error: unknown, app: App, slot: store.Slot, owner: string): never {
  if (isDatabaseUnavailable(error)) void releaseLater(app, slot, owner)
  throw error
}

async function releaseLater(app: App, slot: store.Slot, owner: string) {
  const expiresAt = later(app.wall(), LEASE_MS)
  while (app.wall() < expiresAt) {
    await pause(RELEASE_RETRY_MS, undefined, { ref: false })
    const isUnavailable = await store.release(app.db, slot, owner).then(() => false, isDatabaseUnavailable)
    if (!isUnavailable) return
  }
}

const encryptOutcome = (key: SealingKey, slot: store.Slot, { status, body }: Outcome) => ({
  status,
  sealed: seal(key, associatedData(slot), { body }),
})

/** Another request claimed the slot after this lease expired. */
export const leaseLost = () =>
  problem(
    'IDEMPOTENCY_IN_FLIGHT',
    'The request took too long and a retry with the same X-Idempotency-Key replaced it. Retry in a few seconds.',
  )

/** Decrypts the stored outcome; undefined if its user was erased after the row was read. */
async function decryptOutcome(app: App, team: SealingKey, slot: store.Slot, stored: store.StoredOutcome): Promise<Outcome | undefined> {
  const key = stored.user_id ? await userSealingKey(app, slot.team_id, stored.user_id) : team
  return key && { status: stored.status, body: open<{ body: unknown }>(key, associatedData(slot), stored.sealed).body }
}

const associatedData = (slot: store.Slot) => `idempotency_keys.sealed.${slot.team_id}.${slot.operation}.${slot.key_hash.toString('hex')}`

const hmacWith = (team: SealingKey, purpose: string, text: string) =>
  createHmac('sha256', deriveSecret(team, purpose)).update(text).digest()
