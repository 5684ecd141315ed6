import type { Insertable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export const findSettings = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('communication_settings')
    .select(['sms_enabled', 'email_enabled', 'language'])
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .executeTakeFirst()

export const putSettings = (db: Db, row: Insertable<Tables['communication_settings']>) =>
  db
    .insertInto('communication_settings')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'order_id']).doUpdateSet((eb) => ({
        sms_enabled: eb.ref('excluded.sms_enabled'),
        email_enabled: eb.ref('excluded.email_enabled'),
        language: eb.ref('excluded.language'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute()
