import { type Insertable, type Selectable, sql } from 'kysely'
import { contains } from '../../platform/db/contains.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

type Payor = Omit<Selectable<Tables['team_payors']>, 'team_id'> & { team_id: string | null }

/** A team sees its own payors and those of the catalog. */
const payors = (db: Db, team_id: string) =>
  db
    .selectFrom(
      sql<Payor>`(
        select payor_code, name, aliases, team_id, org_address, provider, provider_payor_id from team_payors where team_id = ${team_id}
        union all select payor_code, name, aliases, null, null, null, null from payors
      )`.as<'payors'>('payors'),
    )
    .selectAll()

export const findPayor = (db: Db, team_id: string, payor_code: string) =>
  payors(db, team_id).where('payor_code', '=', payor_code).executeTakeFirst()

export type PayorFilter = {
  insurance_name?: string | null | undefined
  provider?: string | null | undefined
  provider_payor_id?: string | null | undefined
}

export const searchPayors = (db: Db, team_id: string, filter: PayorFilter, limit: number) =>
  payors(db, team_id)
    .$if(!!filter.insurance_name, (query) =>
      query.where(contains(sql`name || ' ' || array_to_string(aliases, ' ')`, filter.insurance_name as string)),
    )
    .$if(!!filter.provider, (query) => query.where('provider', '=', filter.provider as string))
    .$if(!!filter.provider_payor_id, (query) => query.where('provider_payor_id', '=', filter.provider_payor_id as string))
    .orderBy('name')
    .orderBy('payor_code')
    .limit(limit)
    .execute()

export const insertTeamPayor = (db: Db, row: Insertable<Tables['team_payors']>) =>
  db.insertInto('team_payors').values(row).returningAll().executeTakeFirstOrThrow()

export type CatalogPayor = { payor_code: string; name: string; aliases: string[] }

export const upsertPayors = (db: Db, rows: CatalogPayor[]) =>
  db
    .insertInto('payors')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('payor_code').doUpdateSet((eb) => ({ name: eb.ref('excluded.name'), aliases: eb.ref('excluded.aliases') })),
    )
    .execute()

export type IcdCode = { code: string; label: string }

export const upsertIcdCodes = (db: Db, rows: IcdCode[]) =>
  db
    .insertInto('icd_codes')
    .values(rows)
    .onConflict((conflict) => conflict.column('code').doUpdateSet((eb) => ({ label: eb.ref('excluded.label') })))
    .execute()

export const findIcdCodes = (db: Db, codes: string[]) =>
  db.selectFrom('icd_codes').selectAll().where('code', '=', sql<string>`any(${codes}::text[])`).execute()

/** Matches a prefix of the code, with or without its dot, or a part of the label. */
export const searchIcdCodes = (db: Db, part: string, limit: number) =>
  db
    .selectFrom('icd_codes')
    .selectAll()
    .where((eb) => eb.or([contains(sql`label`, part), sql<boolean>`starts_with(replace(code, '.', ''), replace(upper(${part}), '.', ''))`]))
    .orderBy('code')
    .limit(limit)
    .execute()
