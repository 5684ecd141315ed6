import { type Insertable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

type PreferenceFilter = { team_ids: string[] | undefined; providers: string[] | undefined }

export const listTeams = (db: Db, org_id: string, { team_ids, providers }: PreferenceFilter, page: Page) =>
  db
    .selectFrom('teams')
    .select(['teams.id', 'teams.created_on'])
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('teams.id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('pull_preferences')
          .select('provider')
          .whereRef('pull_preferences.team_id', '=', 'teams.id')
          .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[])),
      ),
    )
    .$call(ascendingPage(page, 'teams.created_on', 'teams.id'))
    .execute()

export const listPreferences = (db: Db, team_ids: string[], providers: string[] | undefined) =>
  db
    .selectFrom('pull_preferences')
    .selectAll()
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[]))
    .orderBy('provider')
    .execute()

export const upsertPreference = (db: Db, row: Insertable<Tables['pull_preferences']>) => {
  const { days, overrides } = row
  return db
    .insertInto('pull_preferences')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'provider']).doUpdateSet({ days, overrides: overrides as string }))
    .execute()
}

export const deletePreferences = (db: Db, team_ids: string[], providers: string[] | undefined) =>
  db
    .deleteFrom('pull_preferences')
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[]))
    .execute()
