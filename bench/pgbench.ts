import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOrders } from '../src/labs/orders/placing/store-write.ts'
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
  const { placed, event, audit } = await readPlacedOrder(url)
  const [order_id, time] = [placed['id'] as string, placed['created_at'] as string]
  const fresh = { [order_id]: freshId('order'), [placed['transaction_id'] as string]: freshId('transaction'), [time]: 'now()::text' }
  const rowsOf = (row: Row, values: Record<string, string>) => expressionOf(row, { ...fresh, ...values })
  const user = { [placed['user_id'] as string]: "md5('user' || :u)" }
  const variables = {
    team: placed['team_id'] as string,
    ...{ order: rowsText(placed), order_sealed: `{"${placed['sealed']}"}` },
    ...{ event: rowsText({ ...event, at: event['created_at'] }), event_sealed: `{"${event['sealed']}"}`, audit: rowsText(audit) },
  }
  const values = [
    ...[':team', rowsOf(placed, user).replace('$', ':order'), ':order_sealed', 'null', 'null'],
    ...[rowsOf(event, { ...user, [event['id'] as string]: freshId('event') }).replace('$', ':event'), ':event_sealed'],
    ...[rowsOf(audit, { [audit['id'] as string]: freshId('audit') }).replace('$', ':audit'), 'null', 'null', 'null'],
  ]
  const statement = placeOrders.text.replace(/\$(\d+)/g, (_, n: string) => values[Number(n) - 1] as string)
  return { script: `\\set n random(1, 9000000000000000)\n\\set u random(1, ${users})\n${statement};\n`, variables }
}

type Row = Record<string, unknown>

/** Rows as JSON for the function. Ciphertexts are in parameters of their own. */
const rowsText = ({ sealed: _, ...row }: Row) =>
  JSON.stringify([Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))])

/** pgbench generates numbers only, so the server builds IDs from them. */
const freshId = (of: string) => `md5(:n || '${of}')::uuid::text`

/** The rows in the variable `$` with other values in place of some texts. */
const expressionOf = (row: Row, values: Record<string, string>) =>
  `${Object.entries(values)
    .filter(([text]) => JSON.stringify(row).includes(text))
    .reduce((sql, [text, value]) => `replace(${sql}, '${text}', ${value})`, '$')}::json`

async function readPlacedOrder(url: string) {
  const [row] = await query<{ placed: Row; event: Row; audit: Row }>(
    url,
    `select to_jsonb(orders) as placed, to_jsonb(events) as event, to_jsonb(audit_log) - '{chain_seq,chain_hash}'::text[] as audit
     from orders join events using (team_id) join audit_log on audit_log.chain_id = orders.team_id and audit_log.subject like '%' || orders.id
     where events.order_id = orders.id and low_level = 'ordered' order by orders.created_at desc limit 1`,
  )
  if (!row) throw new Error('no order was placed yet')
  return row
}

/** Copies a user as often as the service has users, with IDs that the script can compute. */
export const copyUsers = (url: string, users: number) =>
  query(
    url,
    `insert into users select (jsonb_populate_record(one.user_row, jsonb_build_object('user_id', md5('user' || n), 'client_user_id', 'bench-' || n))).*
     from (select users as user_row from users limit 1) one, generate_series(1, $1::int) n`,
    [users],
  )
