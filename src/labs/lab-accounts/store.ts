import { type Insertable, sql } from 'kysely'
import { bindToTeams } from '../../platform/db/bind-teams.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** Accounts with the live teams that they are open to; of those only the ones in `reach`, if it is given. */
const accounts = (db: Db, reach?: string[]) =>
  db
    .selectFrom('lab_accounts')
    .innerJoin('labs', 'labs.id', 'lab_accounts.lab_id')
    .selectAll('lab_accounts')
    .select([
      'labs.slug as lab',
      sql<string[]>`array(select teams.id from lab_account_teams join teams on teams.id = team_id
        where lab_account_id = lab_accounts.id and deleted_at is null
        and (${reach ?? null}::uuid[] is null or teams.id = any(${reach ?? null}::uuid[])) order by teams.id)`.as('team_id_allowlist'),
    ])
    .orderBy('lab_accounts.lab_id')
    .orderBy('lab_accounts.created_at')
    .orderBy('lab_accounts.id')

export type AccountFilter = {
  lab_account_id?: string | null | undefined
  status?: string | null | undefined
  /** Accounts that are open to one of these. */
  open_to: string[] | undefined
  /** The teams that the caller may know of. */
  reach: string[] | undefined
}

export const listAccounts = (db: Db, org_id: string, filter: AccountFilter) =>
  accounts(db, filter.reach)
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

/** Of every organisation and of the platform, for the operator. */
export const listAllAccounts = (db: Db) => accounts(db).execute()

export const insertAccount = (db: Db, row: Insertable<Tables['lab_accounts']>) => db.insertInto('lab_accounts').values(row).execute()

export const openTo = (db: Db, org_id: string, lab_account_id: string, team_ids: string[]) =>
  bindToTeams(db, 'lab_account_teams', org_id, lab_account_id, team_ids)

export const setStatus = (db: Db, id: string, status: string) =>
  db.updateTable('lab_accounts').set({ status }).where('id', '=', id).returning(['id', 'status', 'account_name']).executeTakeFirst()
