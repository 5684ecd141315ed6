import { type Insertable, sql } from 'kysely'
import { type Db, parameterList, prepareRead, prepareStatement, runPrepared } from '../../platform/db/open.ts'
import { readLargeBytes } from '../../platform/db/rows/large-bytes.ts'
import type { Tables } from '../../platform/db/tables.ts'

const columns = ['team_id', 'order_id', 'version', 'status', 'interpretation', 'digest', 'sealed', 'created_at'] as const
const insertReport = prepareStatement(
  'insert_report',
  `insert into results (${columns.join(', ')}) values (${parameterList(columns.length)})`,
)

export const insertVersion = (db: Db, row: Insertable<Tables['results']>) =>
  runPrepared(
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

export const insertDocuments = (db: Db, rows: Insertable<Tables['result_documents']>[]) =>
  db.insertInto('result_documents').values(rows).execute()

export const readDocument = (db: Db, { team_id, id }: OrderKey, version: number, n: number) =>
  readLargeBytes(db, 'result_documents', { team_id, order_id: id, version, n })

export const findByDigest = async (db: Db, { team_id, id }: OrderKey, digest: Buffer) => (await versionByDigest(db, team_id, id, digest))[0]

export const insertCriticalResult = (db: Db, row: Insertable<Tables['critical_results']>) =>
  db.insertInto('critical_results').values(row).execute()

/** The latest report in which something became critical. */
export const findLatestCritical = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('critical_results')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()

type Acknowledgement = { acknowledged_at: string; acknowledged_kind: string; acknowledged_by: string | null }

/** Acknowledges every version, or those up to `version`. The first acknowledgement stays. */
export const acknowledge = (db: Db, team_id: string, order_id: string, by: Acknowledgement, version?: number | null) =>
  db
    .updateTable('critical_results')
    .set({ ...by, escalate_at: null })
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('acknowledged_at', 'is', null)
    .$if(typeof version === 'number', (query) => query.where('version', '<=', version as number))
    .execute()
