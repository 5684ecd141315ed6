import pg from 'pg'
import { eventually } from '../test/support/process.ts'
import { perSecond } from './numbers.ts'
import type { Processes } from './usage.ts'

const counts = {
  'audit rows linked for one team': 'select count(*)::int as left from audit_outbox',
  'events moved to the log of one team': 'select count(*)::int as left from outbox',
}

/** Measures the work that is serial within a team. No worker runs while `writeAuditRows` does. */
export async function printSerialRates({ site, api }: Processes, writeAuditRows: () => Promise<unknown>) {
  await writeAuditRows()
  const client = new pg.Client({ connectionString: api.database })
  await client.connect()
  // Partial, so that webhooks do not receive them again.
  await client.query(
    `insert into outbox (team_id, id, user_id, order_id, event_type, key, partial, sealed, created_at)
     select team_id, id, user_id, order_id, event_type, key, true, sealed, created_at from events order by no`,
  )
  const rates = Object.entries(counts).map(async ([name, text]) => `${name}: ${await drainRate(client, text)}`)
  const [, ...lines] = await Promise.all([site.serve('costs', { ROLE: 'worker' }), ...rates])
  for (const line of lines) console.log(line)
  await client.end()
}

/** The rate from the first change of the count until it is zero. */
async function drainRate(client: pg.Client, text: string) {
  const left = async () => (await client.query<{ left: number }>(text)).rows[0]?.left as number
  const all = await left()
  const first = { left: all, at: 0 }
  await eventually(async () => {
    first.left = await left()
    first.at = performance.now()
    return first.left < all
  })
  await eventually(async () => (await left()) === 0)
  return perSecond((first.left * 1000) / (performance.now() - first.at))
}
