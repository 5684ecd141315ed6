import { isDatabaseError } from '../../../platform/db/errors.ts'
import type { Database } from '../../../platform/db/open.ts'
import type { Connection } from '../../../platform/db/schema/processes.ts'
import { beginSchemaChange } from '../../../platform/db/schema/schema-change.ts'
import { setupProblem } from '../../../platform/problem.ts'

const tables = ['audit_log', 'audit_outbox', 'audit_chains']
/** They change rows for the service, which cannot do it itself anymore. */
const functions = ['link_audit', 'reset_audit', 'checkpoint_audit']
/** They reject updates and deletes, so their owner must not be the service either. */
const triggerFunctions = ['audit_log_guard', 'audit_outbox_guard']

type Client = Parameters<typeof beginSchemaChange>[0]

/**
 * Hands the audit log to another role, so that the service's own role can read and append, and neither change rows nor disable
 * triggers. Tables that this run created for the service go to the service's role.
 */
export async function handOverAudit({ pool }: Pick<Database, 'pool'>, owner: string) {
  const client = await pool.connect()
  try {
    await beginSchemaChange(client)
    const service = await checkRoles(client, owner)
    await giveToService(client, service)
    for (const name of tables) {
      await run(client, 'alter table %I owner to %I', name, owner)
      await run(client, 'grant select, insert on %I to %I', name, service)
    }
    for (const signature of await signaturesOf(client, [...functions, ...triggerFunctions]))
      await run(client, `alter function ${signature} owner to %I`, owner)
    for (const signature of await signaturesOf(client, functions)) {
      await run(client, `alter function ${signature} security definer set search_path = public, pg_temp`)
      await run(client, `revoke all on function ${signature} from public`)
      await run(client, `grant execute on function ${signature} to %I`, service)
    }
    await client.query('commit')
    return service
  } catch (error) {
    throw isDatabaseError(error) ? setupProblem(`The audit log cannot be handed to AUDIT_OWNER_ROLE: ${error.message}`) : error
  } finally {
    // Closes the connection, which rolls back an unfinished transaction.
    client.release(true)
  }
}

/** Returns the role of the service, which owns the other tables. */
async function checkRoles(client: Client, owner: string) {
  const { rows } = await client.query<{ service: string; own: boolean; found: boolean; member: boolean }>(
    `select pg_get_userbyid(c.relowner) as service, pg_get_userbyid(c.relowner) = current_user as own, r.oid is not null as found,
       coalesce(pg_has_role(c.relowner, r.oid, 'member'), false) as member
     from pg_class c left join pg_roles r on r.rolname = $1 where c.oid = 'public.teams'::regclass`,
    [owner],
  )
  const { service, own, found, member } = rows[0] as (typeof rows)[number]
  if (!found) throw setupProblem(`AUDIT_OWNER_ROLE ${owner} does not exist; create it with: CREATE ROLE ${owner} NOLOGIN`)
  if (own)
    throw setupProblem(
      `AUDIT_OWNER_ROLE protects the audit log from the role of the service, which is ${service}; run this command as another role that may change the owner of tables`,
    )
  if (member)
    throw setupProblem(`The role of the service, ${service}, is a superuser or a member of ${owner}; give the service another role`)
  return service
}

/** An administrator who runs a migration owns what it creates. */
async function giveToService(client: Client, service: string) {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and pg_get_userbyid(c.relowner) = current_user and c.relname <> all ($1)`,
    [tables],
  )
  for (const { name } of rows) await run(client, 'alter table %I owner to %I', name, service)
  const created = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
     where p.pronamespace = 'public'::regnamespace and pg_get_userbyid(p.proowner) = current_user and p.proname <> all ($1)
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
    [[...functions, ...triggerFunctions]],
  )
  for (const { signature } of created.rows) await run(client, `alter function ${signature} owner to %I`, service)
}

async function signaturesOf(client: Client, names: string[]) {
  const { rows } = await client.query<{ signature: string }>(
    "select oid::regprocedure::text as signature from pg_proc where pronamespace = 'public'::regnamespace and proname = any ($1)",
    [names],
  )
  return rows.map(({ signature }) => signature)
}

/** Statements about roles and tables take no parameters. */
const run = (client: Client, text: string, ...names: string[]) =>
  client.query(names.reduce((text, name) => text.replace('%I', client.escapeIdentifier(name)), text))

/** Whether the role of this connection could disable the triggers of the audit log, as its owner or as a superuser. */
export async function canDisableAuditTriggers(connection: Connection) {
  const { rows } = await connection.query<{ may: boolean }>(
    "select pg_has_role(current_user, relowner, 'member') as may from pg_class where oid = 'public.audit_log'::regclass",
  )
  return rows[0]?.may === true
}
