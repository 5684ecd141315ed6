import { createLabAccount } from '../../src/labs/catalog/accounts/actions.ts'
import { getLab } from '../../src/labs/catalog/markers.ts'
import type { App } from '../../src/platform/app.ts'
import type { Db } from '../../src/platform/db/open.ts'

type Account = { org_id: string; team_id: string; lab_id?: number; status?: string; number?: string }

/** A lab account of an organization, available to one team. */
export async function aLabAccount(db: Db, { org_id, team_id, lab_id = 1, status = 'active', number = 'AC-1' }: Account) {
  // The action uses only these two members of the app.
  const app = { db, wall: () => new Date().toISOString() } as App
  const account = { org_id, lab: await getLab(app, lab_id), status, delegated_flow: 'order_delegated', provider_account_id: number }
  const { id } = await createLabAccount(app, { ...account, billing: { client_bill: ['AZ', 'CA'] }, team_ids: [team_id] })
  return id
}
