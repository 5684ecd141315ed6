import type pg from 'pg'

type ForeignKey = { on: string; name: string; definition: string }

/** Drops the foreign keys from and to these tables, and returns the function that creates them again, which checks them. */
export async function dropForeignKeys(client: pg.ClientBase, tables: string[]) {
  const { rows } = await client.query<ForeignKey>(
    `select c.conrelid::regclass::text as on, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c where c.contype = 'f' and c.conparentid = 0 and (c.conrelid = any ($1::regclass[]) or c.confrelid = any ($1::regclass[]))`,
    [tables],
  )
  for (const { on, name } of rows) await client.query(`alter table ${on} drop constraint ${name}`)
  return async () => {
    for (const { on, name, definition } of rows) await client.query(`alter table ${on} add constraint ${name} ${definition}`)
  }
}
