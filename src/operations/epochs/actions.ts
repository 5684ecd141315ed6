import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../platform/app.ts'
import { keyNameOf, unwrapEpoch, wrapNewEpoch } from '../../platform/sealing/epochs/keys.ts'
import * as store from '../../platform/sealing/epochs/store.ts'
import type { KeyStore } from '../../platform/sealing/key-encryption.ts'
import { rewrapKey } from '../../platform/sealing/store.ts'
import { teamSealingKey, unwrap, wrap } from '../../platform/sealing/vault.ts'
import { auditRow, recordChange } from '../../tenants/audit/actions.ts'
import { listEveryTeam } from '../../tenants/teams/actions.ts'
import * as rules from './rules.ts'

/**
 * Takes the next step of the epochs of all teams. Each depends only on what the database and the key store have, so a killed
 * process loses nothing: another run takes the same step.
 */
export async function rotateEpochs(app: App) {
  const { ERASURE_EPOCH_DAYS: days, ERASURE_ESCROW_DAYS: escrowDays } = app.config
  const { keyStore } = app.vault.epochs
  if (!days || !keyStore) return
  const teams = await listEveryTeam(app)
  const ids = new Set(teams.map(({ id }) => id))
  const before = Map.groupBy(await store.listEpochs(app.db), ({ team_id }) => team_id)
  for (const { id, deleted_at } of teams) if (!deleted_at && rules.isDue(before.get(id) ?? [], days, app.wall())) await addEpoch(app, id)
  const byTeam = Map.groupBy(await store.listEpochs(app.db), ({ team_id }) => team_id)
  for (const [team_id, ofTeam] of byTeam) await continueTeam(app, keyStore, { team_id, ofTeam, isErased: !ids.has(team_id), escrowDays })
}

const addEpoch = (app: App, team_id: string) => store.insertEpoch(app.db, { team_id, id: randomUUID(), created_at: app.wall() })

type TeamEpochs = { team_id: string; ofTeam: store.Epoch[]; isErased: boolean; escrowDays: number }

/** A failure of one team, such as a lost permission for one key, does not stop the others. */
async function continueTeam(app: App, keyStore: KeyStore, team: TeamEpochs) {
  try {
    if (team.isErased) return await destroyErased(app, keyStore, team)
    const newest = team.ofTeam
      .filter(({ active_at }) => active_at)
      .sort(byActivation)
      .at(-1)
    for (const epoch of team.ofTeam)
      await takeStep(app, keyStore, epoch, rules.nextStep(epoch, epoch === newest, team.escrowDays, app.wall()))
  } catch (error) {
    app.log.error({ team_id: team.team_id, err: (error as Error).message }, 'epoch not rotated')
  }
}

const byActivation = (a: store.Epoch, b: store.Epoch) => ((a.active_at ?? '') < (b.active_at ?? '') ? -1 : 1)

async function takeStep(app: App, keyStore: KeyStore, epoch: store.Epoch, step: rules.EpochStep) {
  const { team_id } = epoch
  if (step === 'wrap')
    await store.setWrapped(app.db, epoch, await wrapNewEpoch(keyStore, await teamSealingKey(app, team_id), epoch), app.wall())
  if (step === 'activate') await store.setTime(app.db, epoch, 'active_at', app.wall())
  if (step === 'take over') await takeOver(app, epoch)
  if (step === 'destroy') await destroy(app, keyStore, epoch)
}

const BATCH_SIZE = 500

/** Wraps the keys of all users with the epoch. Once no other can be needed, the earlier ones are retired. */
async function takeOver(app: App, epoch: store.Epoch) {
  const isComplete = rules.canComplete(epoch, app.wall())
  if (!(await rewrapAll(app, epoch)) || !isComplete) return
  await store.setTime(app.db, epoch, 'complete_at', app.wall())
  for (const other of await store.listEpochsOf(app.db, epoch.team_id))
    if (other.active_at && other.active_at < (epoch.active_at as string)) await store.setTime(app.db, other, 'retired_at', app.wall())
}

/** Returns whether the epoch wraps all keys of users. */
async function rewrapAll(app: App, epoch: store.Epoch) {
  for (;;) {
    const rows = await store.listKeysOfOthers(app.db, epoch, BATCH_SIZE)
    if (!rows.length) return true
    const team = await teamSealingKey(app, epoch.team_id)
    // This process may not have loaded the epoch as the active one yet.
    if (team.wrapsWith?.id !== epoch.id) return false
    for (const { user_id, ...row } of rows) {
      const owner = { team_id: row.team_id, user_id: user_id as string }
      await rewrapKey(app.db, row, wrap(team, owner, unwrap(team, owner, row)))
    }
  }
}

/** Destroys an epoch that wraps nothing anymore, after checking that the current one can be opened. */
async function destroy(app: App, keyStore: KeyStore, epoch: store.Epoch) {
  const { team_id, id } = epoch
  const current = (await store.listEpochsOf(app.db, team_id)).filter(({ retired_at, active_at }) => active_at && !retired_at).at(-1)
  // The next epoch takes over such keys.
  if (!current?.wrapped || (await store.isUsed(app.db, epoch))) return app.log.warn({ team_id }, 'epoch kept, because it still wraps keys')
  await unwrapEpoch(app.vault.epochs, await teamSealingKey(app, team_id), { ...current, wrapped: current.wrapped })
  await keyStore.destroy(keyNameOf(id))
  await inTransaction(app, async (app) => {
    await store.setDestroyed(app.db, epoch, app.wall())
    await recordChange(app, auditRow(app, { kind: 'job', team_id }, { action: 'destroyEpoch', subject: `epoch_id:${id}`, status: 200 }))
  })
}

/** The users of an erased team have no keys anymore, and backups of it can be restored until the escrow ends. */
async function destroyErased(app: App, keyStore: KeyStore, { ofTeam, escrowDays }: TeamEpochs) {
  for (const epoch of ofTeam) {
    if (!epoch.retired_at) await store.setTime(app.db, epoch, 'retired_at', app.wall())
    else if (rules.isEscrowOver(epoch, escrowDays, app.wall())) {
      await keyStore.destroy(keyNameOf(epoch.id))
      await store.deleteEpoch(app.db, epoch)
    }
  }
}

/** How many epochs there are, and how many should have been destroyed a day ago. */
export async function countEpochs({ db, config, wall }: App) {
  const epochs = await store.listEpochs(db)
  const isOverdue = (epoch: store.Epoch) => rules.isEscrowOver(epoch, config.ERASURE_ESCROW_DAYS + 1, wall())
  return { epochs: epochs.length, overdue: config.ERASURE_EPOCH_DAYS ? epochs.filter(isOverdue).length : 0 }
}

/** The teams whose epochs the key store does not open, such as those of a backup that is older than the escrow. */
export async function findLostTeams(app: App) {
  const lost: string[] = []
  for (const team_id of new Set((await store.listEpochs(app.db)).map(({ team_id }) => team_id)))
    await teamSealingKey(app, team_id).catch(() => lost.push(team_id))
  return lost
}
