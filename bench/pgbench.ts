import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOrder, placeParameters } from '../src/labs/orders/placing/store-write.ts'
import { query } from '../test/support/databases.ts'
import { run } from '../test/support/process.ts'

const PGBENCH = '/usr/bin/pgbench'

export const pgbenchVersion = () => spawnSync(PGBENCH, ['--version'], { encoding: 'utf8' }).stdout?.trim() || undefined

type Round = { url: string; connections: number; seconds: number; folder: string }

/** Writes orders with the service's statement alone and returns the rate per second. */
export async function pgbenchRate(round: Round, { script, variables }: Script) {
  const file = join(round.folder, 'place.sql')
  writeFileSync(file, script)
  const size = ['-c', String(round.connections), '-j', '2', '-T', String(round.seconds)]
  const definitions = Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  const { code, stdout, stderr } = await run([PGBENCH, '-n', '-M', 'prepared', ...size, '-f', file, ...definitions, round.url], { env: {} })
    .exited
  const found = /tps = ([\d.]+)/.exec(stdout)
  if (code !== 0 || !found) throw new Error(`pgbench exited with code ${code}: ${stderr || stdout}`)
  return Number(found[1])
}

type Script = { script: string; variables: Record<string, string> }

/** Turns an order that the service placed into a pgbench script with new IDs and times and values of the same size. */
export async function scriptFromOrder(url: string, users: number): Promise<Script> {
  const values = await readPlacedOrder(url)
  const variables: Record<string, string> = {}
  const texts = placeParameters.map((name, i) => {
    const expression = freshExpressions[name]
    if (expression) return expression
    const value = values[name]
    if (value === null || value === undefined) return 'null'
    variables[`p${i}`] = Array.isArray(value) ? `{${value.join(',')}}` : String(value)
    return `:p${i}`
  })
  const statement = placeOrder.replace(/\$(\d+)/g, (_, n: string) => texts[Number(n) - 1] as string).replace(/\s+/g, ' ')
  return { script: `\\set n random(1, 9000000000000000)\n\\set u random(1, ${users})\n${statement.trim()};\n`, variables }
}

/** pgbench generates numbers only, so the server builds IDs from them. */
const freshId = (of: string) => `md5(:n || '${of}')::uuid`
const freshExpressions: Record<string, string> = {
  id: freshId('order'),
  transaction_id: freshId('transaction'),
  'event.id': freshId('event'),
  'audit.id': freshId('audit'),
  user_id: `md5('user' || :u)::uuid`,
  ...Object.fromEntries(['created_at', 'updated_at', 'last_event_at', 'audit.at'].map((name) => [name, 'now()'])),
}

async function readPlacedOrder(url: string): Promise<Record<string, unknown>> {
  const [row] = await query<{ placed: Record<string, unknown>; event: Record<string, unknown>; audit: Record<string, unknown> }>(
    url,
    `select to_jsonb(orders) as placed, to_jsonb(events) as event, to_jsonb(audit_log) as audit
     from orders join events using (team_id) join audit_log on audit_log.chain_id = orders.team_id and audit_log.subject like '%' || orders.id
     where events.order_id = orders.id and low_level = 'ordered' order by orders.created_at desc limit 1`,
  )
  if (!row) throw new Error('no order was placed yet')
  const withPrefix = (prefix: string, row: object) => Object.entries(row).map(([name, value]) => [`${prefix}.${name}`, value])
  return { ...row.placed, ...Object.fromEntries([...withPrefix('event', row.event), ...withPrefix('audit', row.audit)]) }
}

/** Copies a user as often as the service has users, with IDs that the script can compute. */
export const copyUsers = (url: string, users: number) =>
  query(
    url,
    `insert into users select (jsonb_populate_record(one.user_row, jsonb_build_object('user_id', md5('user' || n), 'client_user_id', 'bench-' || n))).*
     from (select users as user_row from users limit 1) one, generate_series(1, $1::int) n`,
    [users],
  )
