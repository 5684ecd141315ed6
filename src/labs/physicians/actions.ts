import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { isNpi } from '../orders/checks/rules-people.ts'
import * as store from './store.ts'

type Names = { first_name: string; last_name: string }
export type Physician = Names & { npi: string }

/** The physicians of the caller's team, by name. */
export async function listPhysicians(app: App, { team_id }: TeamCaller, requested_id: string) {
  checkOwnTeam(team_id, requested_id)
  return loadPhysicians(app, team_id)
}

export async function loadPhysicians(app: App, team_id: string): Promise<Physician[]> {
  const key = await teamSealingKey(app, team_id)
  const rows = await store.listPhysicians(app.db, team_id)
  const physicians = rows.map(({ npi, sealed }) => ({ npi, ...open<Names>(key, associatedData(npi), sealed) }))
  return physicians.sort((a, b) => a.last_name.localeCompare(b.last_name) || a.first_name.localeCompare(b.first_name))
}

export const putPhysicians = (app: App, caller: TeamCaller, requested_id: string, physicians: Physician[]) =>
  inTransaction(app, async (app) => {
    const { team_id } = caller
    checkOwnTeam(team_id, requested_id)
    checkNpis(physicians.map(({ npi }) => npi))
    await writePhysicians(app, team_id, physicians)
    return listPhysicians(app, caller, requested_id)
  })

export async function writePhysicians(app: AppInTransaction, team_id: string, physicians: Physician[]) {
  const key = await teamSealingKey(app, team_id)
  await store.replacePhysicians(
    app.db,
    team_id,
    physicians.map((physician) => ({ team_id, npi: physician.npi, sealed: sealNames(key, physician), updated_at: app.wall() })),
  )
}

const associatedData = (npi: string) => `physicians.sealed.${npi}`

const sealNames = (key: SealingKey, { npi, first_name, last_name }: Physician) => seal(key, associatedData(npi), { first_name, last_name })

function checkOwnTeam(team_id: string, requested_id: string) {
  if (team_id !== requested_id) throw problem('TEAM_NOT_FOUND', 'The key belongs to another team. Send the ID of the team of the key.')
}

function checkNpis(npis: string[]) {
  const wrong = npis.find((npi, i) => !isNpi(npi) || npis.indexOf(npi) !== i)
  if (wrong) throw problem('NPI_INVALID', 'An NPI is listed twice, or its check digit is wrong. Check the ten digits.')
}
