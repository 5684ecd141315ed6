import { type Insertable, sql } from 'kysely'
import { liveTeams } from '../../../platform/db/live-teams.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

/** Accounts with the live teams that they are open to, limited to `visible_team_ids` if it is set. */
const accounts = (db: Db, visible_team_ids?: string[]) =>
  db
    .selectFrom('lab_accounts')
    .innerJoin('labs', 'labs.id', 'lab_accounts.lab_id')
    .selectAll('lab_accounts')
    .select([
      'labs.slug as lab',
      sql<string[]>`array(select teams.id from lab_account_teams join teams on teams.id = team_id
        where lab_account_id = lab_accounts.id and deleted_at is null
        and (${visible_team_ids ?? null}::uuid[] is null or teams.id = any(${visible_team_ids ?? null}::uuid[])) order by teams.id)`.as(
        'team_id_allowlist',
      ),
    ])
    .orderBy('lab_accounts.lab_id')
    .orderBy('lab_accounts.created_at')
    .orderBy('lab_accounts.id')

type AccountFilter = {
  lab_account_id?: string | null | undefined
  status?: string | null | undefined
  /** Accounts that are open to one of these teams. */
  open_to: string[] | undefined
  /** The teams that the caller can see. */
  visible_team_ids: string[] | undefined
}

export const listAccounts = (db: Db, org_id: string, filter: AccountFilter) =>
  accounts(db, filter.visible_team_ids)
    .where('lab_accounts.org_id', '=', org_id)
    .$if(!!filter.lab_account_id, (query) => query.where('lab_accounts.id', '=', filter.lab_account_id as string))
    .$if(!!filter.status, (query) => query.where('lab_accounts.status', '=', filter.status as string))
    .$if(filter.open_to !== undefined, (query) =>
      query.where(
        sql<boolean>`exists (select from lab_account_teams join teams on teams.id = team_id
          where lab_account_id = lab_accounts.id and deleted_at is null and teams.id = any(${filter.open_to}::uuid[]))`,
      ),
    )
    .execute()

export const findAccount = (db: Db, org_id: string, id: string) =>
  accounts(db).where('lab_accounts.org_id', '=', org_id).where('lab_accounts.id', '=', id).executeTakeFirst()

export const lockAccount = (db: Db, org_id: string, id: string) =>
  db.selectFrom('lab_accounts').select('id').where('org_id', '=', org_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

/** All accounts, for the operator. */
export const listAllAccounts = (db: Db) => accounts(db).execute()

/** The accounts of a lab with this number, with the live teams that they are open to. */
export const listByNumber = (db: Db, lab_id: number, provider_account_id: string) =>
  accounts(db).where('lab_accounts.lab_id', '=', lab_id).where('lab_accounts.provider_account_id', '=', provider_account_id).execute()

export const insertAccount = (db: Db, row: Insertable<Tables['lab_accounts']>) => db.insertInto('lab_accounts').values(row).execute()

/** Opens the account to exactly these live teams of the organization and returns how many there were. */
export async function bindTeams(db: Db, org_id: string, lab_account_id: string, team_ids: string[]) {
  await db.deleteFrom('lab_account_teams').where('lab_account_id', '=', lab_account_id).execute()
  const bound = await db
    .insertInto('lab_account_teams')
    .columns(['lab_account_id', 'team_id'])
    .expression(liveTeams(db.selectFrom('teams'), org_id, lab_account_id, team_ids))
    .returning('team_id')
    .execute()
  return bound.length
}

export const setStatus = (db: Db, id: string, status: string) =>
  db.updateTable('lab_accounts').set({ status }).where('id', '=', id).returning(['id', 'status', 'account_name']).executeTakeFirst()

export type PlatformAccount = Insertable<Tables['lab_accounts']>

export const upsertPlatformAccounts = (db: Db, rows: PlatformAccount[]) =>
  db
    .insertInto('lab_accounts')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('lab_id')
        .where('org_id', 'is', null)
        .doUpdateSet((eb) => ({ allowed_billing: eb.ref('excluded.allowed_billing'), account_name: eb.ref('excluded.account_name') })),
    )
    .execute()

export const findExistingAccounts = async (db: Db, ids: string[]) =>
  (await db.selectFrom('lab_accounts').select('id').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()).map(({ id }) => id)
