import { sql } from 'kysely'
import type { Db } from './open.ts'

/** Who or what can be bound to teams, and the column that names it. */
const columns = { person_teams: 'person_id', management_key_teams: 'key_id', lab_account_teams: 'lab_account_id' } as const

/** Binds to exactly these live teams of the organisation and answers how many there were. */
export async function bindToTeams(db: Db, table: keyof typeof columns, org_id: string, id: string, team_ids: string[]) {
  const [bindings, column] = [sql.table(table), sql.ref(columns[table])]
  await sql`delete from ${bindings} where ${column} = ${id}`.execute(db)
  const { rows } = await sql`
    insert into ${bindings} (${column}, team_id)
    select ${id}::uuid, id from teams where org_id = ${org_id} and deleted_at is null and id = any(${team_ids}::uuid[])
    returning team_id`.execute(db)
  return rows.length
}
