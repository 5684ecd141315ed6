import { createHash, createHmac } from 'node:crypto'
import { findLogErasure } from '../../delivery/events/erasure/actions.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { deploymentOf } from '../../platform/config.ts'
import { problem } from '../../platform/problem.ts'
import { keyNameOf } from '../../platform/sealing/epochs/keys.ts'
import { listEpochsOf } from '../../platform/sealing/epochs/store.ts'
import { derive, keyIdOf, type SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { userNotFound } from '../../tenants/users/rules.ts'
import { expectedDestruction } from '../epochs/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Records what an erasure is about to destroy. The users are locked, and their orders are still attached. */
export async function recordErasures(app: AppInTransaction, team_id: string, user_ids: string[]) {
  const [keys, counts, team] = [
    await store.listKeys(app.db, team_id, user_ids),
    Map.groupBy(await store.countRows(app.db, team_id, user_ids), ({ user_id }) => user_id),
    await teamSealingKey(app, team_id),
  ]
  const rows = keys.map(({ user_id, created_on, deleted_at, id, wrapped }) => {
    const { orders = 0, ...deleted } = Object.fromEntries((counts.get(user_id) ?? []).map(({ name, rows }) => [name, rows]))
    const wrappedBy = keyIdOf(wrapped)
    const record: rules.ErasureRecord = {
      ...{ team_id, user_id, created_at: created_on, requested_at: deleted_at ?? app.now(), erased_at: app.wall() },
      key_ids: [id, ...(unwrap(team, { team_id, user_id }, { id, wrapped }).others ?? []).map((other) => other.id)],
      wrapped_sha256: createHash('sha256').update(wrapped).digest('hex'),
      epoch_id: team.epochs?.some((epoch) => epoch.id === wrappedBy) ? wrappedBy : null,
      deleted: { users: 1, sealing_keys: 1, ...deleted },
      anonymized_orders: orders,
    }
    const text = JSON.stringify(record)
    return { team_id, user_id, erased_at: record.erased_at, record: text, mac: macOf(app.vault.root, text) }
  })
  if (rows.length) await store.putErasures(app.db, rows)
}

/** Without it, whoever can write to the database could make the service sign any certificate. */
const macOf = (root: SealingKey, record: string) => createHmac('sha256', derive(root, 'erasure records')).update(record).digest()

/** The certificate of an erased user, as of now. */
export async function getErasure(app: App, { team_id }: Pick<TeamCaller, 'team_id'>, user_id: string) {
  const user = await store.findUser(app.db, team_id, user_id)
  if (user) throw notErased(user.erase_at)
  const row = await store.findErasure(app.db, team_id, user_id)
  if (!row) throw userNotFound()
  const again_at = await findLogErasure(app, team_id, user_id)
  if (again_at) throw unfinished(again_at)
  if (!app.vault.roots.some(({ key }) => macOf(key, row.record).equals(row.mac)))
    throw new Error('The record of the erasure was changed in the database')
  const certificate = await certificateOf(app, rules.ErasureRecord.parse(JSON.parse(row.record)))
  return { certificate, jws: rules.signCertificate(signingKey(app.vault.root), certificate) }
}

const notErased = (erase_at: string | null) =>
  problem(
    'USER_NOT_ERASED',
    erase_at
      ? `The user is scheduled for deletion and is erased at ${erase_at}. Ask again then.`
      : 'The user exists. Delete the user with DELETE /v2/user/{user_id}; the certificate exists 7 days later.',
    { erase_at },
  )

const unfinished = (again_at: string) =>
  problem(
    'USER_NOT_ERASED',
    `The user and the keys are erased, and what open transactions wrote since is checked. The certificate exists after ${again_at}. Ask again then.`,
    { erase_at: again_at },
  )

const signingKey = (root: SealingKey) => rules.signingKeyFrom(derive(root, 'erasure certificates'))

/** The public keys of all versions of the root, as a JSON Web Key Set. */
export const publicKeys = ({ vault }: Pick<App, 'vault'>) => ({ keys: vault.roots.map(({ key }) => signingKey(key).jwk) })

async function certificateOf(app: App, { created_at, deleted, wrapped_sha256, epoch_id, ...record }: rules.ErasureRecord) {
  const epoch = epoch_id ? await epochOf(app, record.team_id, epoch_id, created_at) : null
  return {
    ...{ version: 1 as const, issued_at: app.wall(), ...deploymentOf(app.config), ...record },
    ...{ wrapped_key_sha256: wrapped_sha256, deleted_rows: deleted, epoch, copies: copiesOf(epoch) },
  }
}

type EpochPart = NonNullable<rules.Certificate['epoch']>

async function epochOf({ db, config }: App, team_id: string, epoch_id: string, created_at: string): Promise<EpochPart> {
  const epochs = await listEpochsOf(db, team_id)
  const epoch = epochs.find(({ id }) => id === epoch_id)
  const since = epochs.find(({ complete_at }) => complete_at)?.complete_at ?? null
  const { ERASURE_EPOCH_DAYS: days, ERASURE_ESCROW_DAYS: escrowDays } = config
  return {
    epoch_id,
    state: epoch?.destroyed_at ? 'destroyed' : epoch?.retired_at ? 'in_escrow' : 'active',
    destroyed_at: epoch?.destroyed_at ?? null,
    expected_destruction_at: epoch && !epoch.destroyed_at && days ? expectedDestruction(epoch, days, escrowDays) : null,
    protects_copies_since: since && created_at > since ? null : (since ?? epoch?.active_at ?? null),
  }
}

const WITHOUT_EPOCH = 'Whoever has the copy and the encryption key of the deployment can read it.'

/** Copies that the database cannot delete. The times come from the epoch, because Assay does not know how long the operator keeps them. */
function copiesOf(epoch: EpochPart | null): rules.Certificate['copies'] {
  const until = epoch?.destroyed_at ?? epoch?.expected_destruction_at ?? null
  const end = epoch ? 'Useless once the key of the epoch is destroyed, except copies older than protects_copies_since.' : WITHOUT_EPOCH
  return [
    { place: 'PostgreSQL heap pages', until, note: `Deleted rows stay until PostgreSQL reuses the space. ${end}` },
    { place: 'PostgreSQL write-ahead log', until, note: `Segments and their archives stay as long as the operator keeps them. ${end}` },
    {
      place: 'replicas of the database',
      until,
      note: `They apply the deletion within seconds; their pages and logs keep copies like the primary. ${end}`,
    },
    { place: 'backups', until, note: `Backups from before the erasure stay as long as the operator keeps them. ${end}` },
    ...(epoch
      ? [
          {
            place: 'snapshots of the key store',
            until: null,
            note: 'A snapshot of the key store from before the destruction contains the key of the epoch.',
          },
        ]
      : []),
  ]
}

/** Verifies a certificate with the keys of this deployment, and that the database no longer has the user. */
export async function verifyErasure(app: App, text: string) {
  const verdict = rules.verifyCertificate(publicKeys(app).keys, text)
  if ('reason' in verdict) return { problems: [verdict.reason] }
  const { team_id, user_id, key_ids, epoch } = verdict.certificate
  const rows = (await store.countRows(app.db, team_id, [user_id])).map(({ name }) => name)
  const { keyStore } = app.vault.epochs
  const problems = [
    ...((await store.findUser(app.db, team_id, user_id)) ? ['the database has the user again'] : []),
    ...((await store.hasKey(app.db, team_id, key_ids)) ? ['the database has the key of the user'] : []),
    ...(rows.length ? [`the database has rows of the user in ${rows.join(', ')}`] : []),
    ...(epoch?.state === 'destroyed' && (await keyStore?.exists(keyNameOf(epoch.epoch_id)))
      ? ['the key store has the key of the epoch']
      : []),
  ]
  return { certificate: verdict.certificate, problems }
}

/** Verifies a certificate with public keys only. */
export function verifyOffline(keys: rules.PublicKey[], text: string) {
  const verdict = rules.verifyCertificate(keys, text)
  return 'reason' in verdict ? { problems: [verdict.reason] } : { certificate: verdict.certificate, problems: [] }
}

export { readKeySet } from './rules.ts'
