import { randomUUID } from 'node:crypto'
import type { Db } from '../../src/db/open.ts'

type Account = { org_id: string; team_id: string; lab_id?: number; status?: string }

/** An organisation's own account at a lab, open to one team; no endpoint makes them yet. */
export async function aLabAccount(db: Db, { org_id, team_id, lab_id = 1, status = 'active' }: Account) {
  const id = randomUUID()
  const row = { id, lab_id, org_id, status, delegated_flow: 'order_delegated', provider_account_id: `AC-${id.slice(0, 8)}` }
  const allowed_billing = JSON.stringify({ client_bill: ['AZ', 'CA'] })
  await db
    .insertInto('lab_accounts')
    .values({ ...row, allowed_billing, created_at: new Date().toISOString() })
    .execute()
  await db.insertInto('lab_account_teams').values({ lab_account_id: id, team_id }).execute()
  return id
}
