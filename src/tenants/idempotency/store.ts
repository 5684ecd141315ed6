import { sql } from 'kysely'
import { pruning } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'

export type Slot = { team_id: string; operation: string; key_hash: Buffer }
/** An outcome, encrypted with the user's key if it names a user and with the team's key otherwise. */
export type StoredOutcome = { status: number; sealed: Buffer; user_id: string | null }
type HeldSlot = { owner: string; fingerprint: Buffer } & ((StoredOutcome & { user_deleted: boolean | null }) | { status: null })
type Claim = Slot & { fingerprint: Buffer; owner: string; now: string; leased_until: string }

/**
 * Claims the slot if it is free or its lease expired, and returns its holder.
 * Returns undefined if another request claimed it concurrently; call again.
 */
export async function claim(
  db: Db,
  { team_id, operation, key_hash, fingerprint, owner, now, leased_until }: Claim,
): Promise<HeldSlot | undefined> {
  const { rows } = await sql<HeldSlot>`
    select holder as owner, fingerprint_of_holder as fingerprint, status, sealed, user_id, user_deleted
    from claim_key(${team_id}::uuid, ${operation}, ${key_hash}, ${fingerprint}, ${owner}::uuid, ${now}::timestamptz, ${leased_until}::timestamptz)`.execute(
    db,
  )
  return rows[0]
}

const ownedSlot = (slot: Slot, owner: string) =>
  sql`team_id = ${slot.team_id} and operation = ${slot.operation} and key_hash = ${slot.key_hash} and owner = ${owner} and status is null`

export const renew = (db: Db, slot: Slot, owner: string, leased_until: string) =>
  sql`update idempotency_keys set leased_until = ${leased_until} where ${ownedSlot(slot, owner)}`.execute(db)

/** Stores the outcome and returns whether this owner still held the slot. */
export async function complete(db: Db, slot: Slot, owner: string, { status, sealed, user_id }: StoredOutcome) {
  const result =
    await sql`update idempotency_keys set status = ${status}, sealed = ${sealed}, user_id = ${user_id} where ${ownedSlot(slot, owner)}`.execute(
      db,
    )
  return result.numAffectedRows === 1n
}

export const release = (db: Db, slot: Slot, owner: string) => sql`delete from idempotency_keys where ${ownedSlot(slot, owner)}`.execute(db)

export const deleteOlderThan = (db: Db, instant: string) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', instant).modifyEnd(pruning('old idempotency keys')).execute()

export const deleteOutcomesOf = (db: Db, team_id: string) =>
  db.deleteFrom('idempotency_keys').where('team_id', '=', team_id).where('status', 'is not', null).execute()
