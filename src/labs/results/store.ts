import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { type Db, parameterList, prepareRead, prepareStatement, run } from '../../platform/db/open.ts'
import { readLargeBytes } from '../../platform/db/rows/large-bytes.ts'
import type { Tables } from '../../platform/db/tables.ts'

const columns = ['team_id', 'order_id', 'version', 'status', 'interpretation', 'digest', 'sealed', 'created_at'] as const
const insertReport = prepareStatement(
  'insert_report',
  `insert into results (${columns.join(', ')}) values (${parameterList(columns.length)})`,
)

export const insertVersion = (db: Db, row: Insertable<Tables['results']>) =>
  run(
    db,
    insertReport,
    columns.map((column) => row[column]),
  )

type OrderKey = { team_id: string; id: string }

/** The latest report of an order, or the latest with a digest. */
const latestReport = (db: Db, team_id: string, order_id: string) =>
  db.selectFrom('results').where('team_id', '=', team_id).where('order_id', '=', order_id).orderBy('version', 'desc').limit(sql.lit(1))

const latestVersion = prepareRead('find_latest_report', (db, team_id: string, order_id: string) =>
  latestReport(db, team_id, order_id).select(['version', 'sealed']),
)
const versionByDigest = prepareRead('find_report_by_digest', (db, team_id: string, order_id: string, digest: Buffer) =>
  latestReport(db, team_id, order_id).select('version').where('digest', '=', digest),
)

export const findLatestVersion = async (db: Db, { team_id, id }: OrderKey) => (await latestVersion(db, team_id, id))[0]

/** A report by its number. */
export const findVersion = (db: Db, { team_id, id }: OrderKey, version: number) =>
  db
    .selectFrom('results')
    .select(['version', 'sealed'])
    .where('team_id', '=', team_id)
    .where('order_id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst()

/** Deletes the reports of orders that no longer exist. */
export const deleteOrphanedReports = (db: Db, team_id: string) =>
  sql`
    delete from results r where r.team_id = ${team_id}
      and not exists (select from orders o where o.team_id = ${team_id} and o.id = r.order_id)`.execute(db)

export const insertDocument = (db: Db, row: Insertable<Tables['result_documents']>) =>
  db.insertInto('result_documents').values(row).execute()

export const readDocument = (db: Db, { team_id, id }: OrderKey, version: number, n: number) =>
  readLargeBytes(db, 'result_documents', { team_id, order_id: id, version, n })

export const findByDigest = async (db: Db, { team_id, id }: OrderKey, digest: Buffer) => (await versionByDigest(db, team_id, id, digest))[0]

export const insertCriticalResult = (db: Db, row: Insertable<Tables['critical_results']>) =>
  db.insertInto('critical_results').values(row).execute()

export type CriticalRow = Selectable<Tables['critical_results']>

/** The latest report in which something became critical. */
export const findLatestCritical = (db: Db, { team_id, id }: OrderKey) =>
  db
    .selectFrom('critical_results')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('order_id', '=', id)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()

export const listOpenCriticals = (db: Db, { team_id, id }: OrderKey) =>
  db
    .selectFrom('critical_results')
    .select('version')
    .where('team_id', '=', team_id)
    .where('order_id', '=', id)
    .where('acknowledged_at', 'is', null)
    .execute()

type Acknowledgment = Required<Updateable<Pick<Tables['critical_results'], `acknowledged_${'at' | 'kind' | 'by' | 'version'}` | 'sealed'>>>

export const acknowledge = (db: Db, { team_id, id }: OrderKey, version: number, acknowledgment: Acknowledgment) =>
  db
    .updateTable('critical_results')
    .set({ ...acknowledgment, escalate_at: null })
    .where('team_id', '=', team_id)
    .where('order_id', '=', id)
    .where('version', '=', version)
    .execute()

/** Deletes the encrypted parts of the acknowledgments of users' results. */
export const forgetAcknowledgments = (db: Db, team_id: string, user_ids: string[]) =>
  db
    .updateTable('critical_results')
    .set({ sealed: null })
    .where('team_id', '=', team_id)
    .where('order_id', 'in', (eb) =>
      eb.selectFrom('orders').select('id').where('team_id', '=', team_id).where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`),
    )
    .where('sealed', 'is not', null)
    .execute()
