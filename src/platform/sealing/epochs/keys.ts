import { problem, setupProblem } from '../../problem.ts'
import type { KeyStore } from '../key-encryption.ts'
import { newKey, openBytes, type SealingKey, sealBytes, sealingKey } from '../seal.ts'

/** The store of epoch keys and the keys opened so far, the least recently used first. */
export type EpochKeys = { keyStore: KeyStore | undefined; opened: Map<string, { key: SealingKey; usedAt: string }> }

export const newEpochKeys = (keyStore: KeyStore | undefined): EpochKeys => ({ keyStore, opened: new Map() })

/** A key takes a few hundred bytes. One that does not fit is opened again by the store when it is needed. */
export const MAX_OPENED = 10_000

type EpochRow = { epoch_id: string | null; epoch_wrapped: Buffer | null; epoch_active: boolean; epoch_retired: boolean }

/** The epochs of a team, opened by the key store or from memory. The last active one wraps. The store may have no retired one. */
export async function openEpochs(
  epochs: EpochKeys,
  team: SealingKey,
  { team_id, now }: { team_id: string; now: string },
  rows: EpochRow[],
) {
  const opened = await Promise.all(
    rows.flatMap(({ epoch_id: id, epoch_wrapped: wrapped, epoch_active: isActive, epoch_retired: isRetired }) => {
      if (!id || !wrapped) return []
      const opening = openEpoch(epochs, team, { team_id, id, wrapped }, now).then((key) => ({ key, isActive }))
      return [isRetired ? opening.catch(() => undefined) : opening]
    }),
  )
  const known = opened.filter((epoch) => epoch !== undefined)
  const wrapsWith = known.findLast(({ isActive }) => isActive)?.key
  return { epochs: known.map(({ key }) => key), ...(wrapsWith && { wrapsWith }) }
}

type StoredEpoch = { team_id: string; id: string; wrapped: Buffer }

async function openEpoch(epochs: EpochKeys, team: SealingKey, epoch: StoredEpoch, usedAt: string) {
  const found = epochs.opened.get(epoch.id)?.key
  const key = found ?? (await unwrapEpoch(epochs, team, epoch).catch(rejectUnavailable))
  epochs.opened.delete(epoch.id)
  epochs.opened.set(epoch.id, { key, usedAt })
  if (epochs.opened.size > MAX_OPENED) epochs.opened.delete(epochs.opened.keys().next().value as string)
  return key
}

/** Forgets the keys that nobody used since then, such as those of destroyed epochs. */
export function forgetEpochs({ opened }: EpochKeys, since: string) {
  for (const [id, { usedAt }] of opened) if (usedAt < since) opened.delete(id)
}

/** The log has the reason as code. */
function rejectUnavailable(error: Error): never {
  const message = 'The key store of this deployment cannot open the keys of the team right now. Retry in a few seconds.'
  throw Object.assign(problem('KEY_STORE_UNAVAILABLE', message), { code: error.message })
}

/** Opens an epoch with the key store, without the memory. */
export async function unwrapEpoch({ keyStore }: EpochKeys, team: SealingKey, { team_id, id, wrapped }: StoredEpoch) {
  if (!keyStore) throw setupProblem('Keys of users are wrapped by keys in Vault, but VAULT_TRANSIT_URL is not set; set it again')
  return sealingKey(id, await keyStore.unwrap(keyNameOf(id), id, openBytes(team, associatedData(team_id, id), wrapped)))
}

/** A new epoch of a team: its key wrapped by a new key of the store, and then by the team's key. */
export async function wrapNewEpoch(keyStore: KeyStore, team: SealingKey, { team_id, id }: { team_id: string; id: string }) {
  const { bytes } = newKey()
  await keyStore.create(keyNameOf(id))
  const wrapped = await keyStore.wrap(keyNameOf(id), id, bytes)
  // The stored copy will be the only one.
  if (!(await keyStore.unwrap(keyNameOf(id), id, wrapped)).equals(bytes))
    throw setupProblem('Vault does not decrypt what it encrypts; check its transit engine')
  return sealBytes(team, associatedData(team_id, id), wrapped)
}

/** The name of the key of an epoch in the store, after the name of VAULT_TRANSIT_KEY. */
export const keyNameOf = (id: string) => `epoch-${id}`

const associatedData = (team_id: string, id: string) => `team_epochs.wrapped.${team_id}.${id}`
