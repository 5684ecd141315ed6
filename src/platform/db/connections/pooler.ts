import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { setupProblem } from '../../problem.ts'
import { SECOND } from '../../time.ts'
import { isPoolerError } from '../errors.ts'

/** Whether the connection goes through a pooler, which reports a process ID of its own. */
export async function isPooled(client: pg.PoolClient) {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid !== (client as unknown as { processID: number }).processID
}

/** Fails if a pooler is in between, for work that changes settings of its session: other clients would get them. */
export async function rejectPooler(pool: pg.Pool) {
  const client = await pool.connect()
  if (await isPooled(client).finally(() => client.release()))
    throw setupProblem('DATABASE_URL leads through a pooler, and this command needs a session of its own. Set it to the database itself.')
}

/** Fails if DATABASE_URL is a pooler that does not support prepared statements or transactions, because requests would fail at random. */
export async function checkPooler(pool: pg.Pool) {
  const client = await pool.connect()
  try {
    if (await isPooled(client)) await checkPreparedStatements(client, pool)
  } catch (error) {
    if (!isPoolerError(error)) throw error
    throw setupProblem(
      'DATABASE_URL is a pooler that does not support prepared statements or transactions. Use PgBouncer 1.21 or newer in transaction mode with max_prepared_statements, or session mode.',
    )
  } finally {
    client.release(true)
  }
}

/** Prepares a statement, occupies the server connection that has it, and runs the statement again. */
async function checkPreparedStatements(client: pg.PoolClient, pool: pg.Pool) {
  const run = () => client.query({ name: 'assay_pooler_check', text: 'select 1' })
  await run()
  const occupying = await pool.connect()
  try {
    await occupying.query('begin')
    const repeated = run()
    // A pooler with a single connection runs it after the transaction.
    await Promise.race([repeated.catch(() => {}), sleep(SECOND)])
    await occupying.query('rollback')
    await repeated
  } finally {
    occupying.release(true)
  }
}
