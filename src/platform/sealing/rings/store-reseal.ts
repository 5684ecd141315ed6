import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { readLargeBytes } from '../../db/rows/large-bytes.ts'
import type { DeploymentColumn, SealedColumn } from './columns.ts'

export type KeyOwner = { team_id: string; user_id: string | null }

type AnyColumn = SealedColumn | DeploymentColumn

/** Columns as text. */
export type Row = Record<string, string>

/** As text, because a time in the code is less precise than in the database. */
const namesOf = ({ key, in: columns }: SealedColumn) =>
  sql.join([...new Set([...key, ...columns])].map((name) => sql`${sql.ref(name)}::text as ${sql.ref(name)}`))

const teamColumnOf = ({ team = 'team_id' }: SealedColumn) => team

const ofOwner = ({ owner, through }: SealedColumn, { team_id, user_id }: KeyOwner) => {
  if (owner === 'team') return sql`true`
  if (!user_id) return sql`user_id is null`
  if (!through) return sql`user_id = ${user_id}`
  return sql`${sql.ref(through.column)} in (select id from ${sql.table(through.table)} where team_id = ${team_id} and user_id = ${user_id})`
}

/** The rows that another key may have encrypted. A compressed ciphertext does not say which key it was. */
export async function listOthers(db: Db, column: SealedColumn, owner: KeyOwner, ids: Buffer[]) {
  const sealed = sql.ref(column.column)
  const { rows } = await sql<Row>`
    select ${namesOf(column)} from ${sql.table(column.table)}
    where ${sql.ref(teamColumnOf(column))} = ${owner.team_id} and ${ofOwner(column, owner)} and ${sealed} is not null
      and (get_byte(${sealed}, 0) <> 1 or substring(${sealed} from 2 for 16) = any(${ids}::bytea[]))`.execute(db)
  return rows
}

/** Larger ciphertexts are read one by one, in pieces. */
const MAX_BYTES_IN_BATCH = 256 * 1024

export async function loadBatch(db: Db, column: SealedColumn, { team_id }: KeyOwner, rows: Row[]) {
  const tuples = rows.map((row) => sql`(${sql.join(column.key.map((name) => row[name]))})`)
  const sealed = sql.ref(column.column)
  const { rows: found } = await sql<Row & { before: Buffer | null }>`
    select ${namesOf(column)}, case when octet_length(${sealed}) <= ${MAX_BYTES_IN_BATCH} then ${sealed} end as before
    from ${sql.table(column.table)}
    where ${sql.ref(teamColumnOf(column))} = ${team_id} and (${sql.join(column.key.map((name) => sql.ref(name)))}) in (${sql.join(tuples)})
      and ${sealed} is not null`.execute(db)
  return found
}

export const readSealed = (db: Db, column: SealedColumn, { team_id }: KeyOwner, row: Row) =>
  readLargeBytes(db, column.table, { [teamColumnOf(column)]: team_id, ...keyIn(column, row) }, column.column)

const keyIn = ({ key }: AnyColumn, row: Row) => Object.fromEntries(key.map((name) => [name, row[name] as string]))

/** A ciphertext begins with its format, its key and random bytes, so the beginning tells it from any other one. */
const isUnchanged = ({ column }: AnyColumn, before: Buffer) => {
  const start = before.subarray(0, 64)
  return sql`substring(${sql.ref(column)} from 1 for ${sql.lit(start.length)}) = ${start}`
}

/** Changes nothing if the row was written meanwhile. */
export async function replaceSealed(db: Db, column: SealedColumn, { team_id }: KeyOwner, row: Row, before: Buffer, after: Buffer) {
  const { numAffectedRows } = await sql`
    update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${after}
    where ${sql.ref(teamColumnOf(column))} = ${team_id} and ${isRow(column, row)} and ${isUnchanged(column, before)}`.execute(db)
  return numAffectedRows === 1n
}

const isRow = ({ key }: AnyColumn, row: Row) =>
  sql.join(
    key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
    sql` and `,
  )

/** The rows of a table without a team that another key encrypted. An empty value has no key. */
export async function listOfOtherRoots(db: Db, column: DeploymentColumn, idBytes: Buffer) {
  const sealed = sql.ref(column.column)
  const { rows } = await sql<Row>`
    select ${sql.join(column.key.map((name) => sql`${sql.ref(name)}::text as ${sql.ref(name)}`))} from ${sql.table(column.table)}
    where length(${sealed}) > 0 and substring(${sealed} from 2 for 16) <> ${idBytes}`.execute(db)
  return rows
}

/** Changes nothing if the row was written meanwhile. */
export async function replaceUnowned(db: Db, column: DeploymentColumn, row: Row, before: Buffer, after: Buffer) {
  const { numAffectedRows } = await sql`
    update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${after}
    where ${isRow(column, row)} and ${isUnchanged(column, before)}`.execute(db)
  return numAffectedRows === 1n
}
