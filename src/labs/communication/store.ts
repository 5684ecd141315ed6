import type { Insertable } from 'kysely'
import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** The setting of the order, or else of the team. */
export async function findSmsSetting(db: Db, team_id: string, order_id: string) {
  const found = await db
    .selectFrom('communication_settings')
    .select('sms_enabled')
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .executeTakeFirst()
  if (found) return found.sms_enabled
  const team = await db
    .selectFrom('teams')
    .select('lab_tests_patient_sms_communication_enabled as sms_enabled')
    .where('id', '=', team_id)
    .executeTakeFirstOrThrow()
  return team.sms_enabled
}

export const putSmsSetting = (db: Db, row: Insertable<Tables['communication_settings']>) =>
  db
    .insertInto('communication_settings')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'order_id'])
        .doUpdateSet((eb) => ({ sms_enabled: eb.ref('excluded.sms_enabled'), updated_at: eb.ref('excluded.updated_at') })),
    )
    .execute()

/** Inserts rows from a team's export. */
export const inserts = {
  communication_settings: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('communication_settings'), 'communication_settings', rows),
}
