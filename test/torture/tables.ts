import { pino } from 'pino'
import { borrowEmbedded } from '../../src/db/embedded.ts'
import { query } from '../support/cluster.ts'
import type { Env } from '../support/process.ts'

const checks = {
  'users with the same client_user_id':
    'select count(*) from (select 1 from users group by team_id, client_user_id having count(*) > 1) twice',
  'users without a key': 'select count(*) from users left join sealing_keys using (user_id) where sealing_keys.id is null',
  'users without exactly one audit row of their creation': `select count(*) from users where 1 <>
    (select count(*) from audit_log where action = 'createUser' and status = 200 and subject = 'user_id:' || users.user_id)`,
  'creations in the audit log without a user': `select count(*) from audit_log where action = 'createUser' and status = 200
    and not exists (select 1 from users where 'user_id:' || users.user_id = audit_log.subject)`,
}

/** What must never be in the tables, whatever was killed when. */
export async function faultsInTables({ DATABASE_URL }: Env, dataDir: string) {
  const borrowed = DATABASE_URL ? undefined : await borrowEmbedded({ dataDir, log: pino({ level: 'silent' }) })
  const url = DATABASE_URL ?? (borrowed?.url as string)
  const faults: string[] = []
  try {
    for (const [name, sql] of Object.entries(checks)) {
      const [row] = await query<{ count: string }>(url, sql)
      if (Number(row?.count)) faults.push(`${row?.count} ${name}`)
    }
  } finally {
    await borrowed?.stop()
  }
  return faults
}
