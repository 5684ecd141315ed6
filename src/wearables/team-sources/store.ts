import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type CredentialRow = Selectable<Tables['team_credentials']>

export const findCredential = (db: Db, team_id: string, provider: string) =>
  db.selectFrom('team_credentials').selectAll().where('team_id', '=', team_id).where('provider', '=', provider).executeTakeFirst()

export const listProviders = (db: Db, team_id: string) =>
  db.selectFrom('team_credentials').select('provider').where('team_id', '=', team_id).execute()

export const lockCredential = (db: Db, team_id: string, provider: string) =>
  db
    .selectFrom('team_credentials')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .forUpdate()
    .executeTakeFirst()

/** The ID must stay, because the ciphertext is bound to it. */
export const upsertCredential = (db: Db, row: Insertable<Tables['team_credentials']>) => {
  const { sealed, redirect_url_override, updated_at } = row
  return db
    .insertInto('team_credentials')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'id']).doUpdateSet({ sealed, redirect_url_override, updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Credentials of any team of an organization. */
const credentialsOfOrg = (db: Db, org_id: string, team_ids: string[] | undefined) =>
  db
    .selectFrom('team_credentials as credential')
    .innerJoin('teams', 'teams.id', 'credential.team_id')
    .selectAll('credential')
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('credential.team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .modifyEnd(anyTeam('credentials of an organization'))

export const listCredentials = (db: Db, org_id: string, team_ids: string[] | undefined, provider: string | undefined, page: Page) =>
  credentialsOfOrg(db, org_id, team_ids)
    .$if(provider !== undefined, (query) => query.where('credential.provider', '=', provider as string))
    .$call(ascendingPage(page, 'credential.created_at', 'credential.id'))
    .execute()

export const findCredentials = (db: Db, org_id: string, team_ids: string[] | undefined, ids: string[]) =>
  credentialsOfOrg(db, org_id, team_ids).where('credential.id', '=', sql<string>`any(${ids}::uuid[])`).execute()

export const deleteCredential = (db: Db, { team_id, id }: CredentialRow) =>
  db.deleteFrom('team_credentials').where('team_id', '=', team_id).where('id', '=', id).returning('id').executeTakeFirst()

export const listRequirements = (db: Db, team_id: string, provider: string | undefined) =>
  db
    .selectFrom('scope_requirements')
    .selectAll()
    .where('team_id', '=', team_id)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider as string))
    .orderBy('provider')
    .execute()

export const findRequirements = (db: Db, team_id: string, provider: string) =>
  db
    .selectFrom('scope_requirements')
    .select(['user_must_grant', 'user_may_grant'])
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .executeTakeFirst()

export const upsertRequirements = (db: Db, row: Insertable<Tables['scope_requirements']>) => {
  const { user_must_grant, user_may_grant } = row
  return db
    .insertInto('scope_requirements')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'provider']).doUpdateSet({ user_must_grant, user_may_grant }))
    .execute()
}

export const deleteRequirements = (db: Db, team_id: string, provider: string) =>
  db.deleteFrom('scope_requirements').where('team_id', '=', team_id).where('provider', '=', provider).execute()
