import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { listEvents } from '../src/delivery/events/store-log.ts'
import type { Db } from '../src/platform/db/open.ts'
import type { Tables } from '../src/platform/db/tables.ts'
import type { HotWrite } from './hot-writes.ts'

const LAG_DAYS = 60
const laggingDay = new Date(Date.now() - LAG_DAYS * 86_400_000).toISOString().slice(0, 10)
const PAGE_BYTES = 4_000_000

/**
 * The text of the first statement that a store function runs. Its parameters are those of the store function in the order of the text.
 */
async function statementOf(run: (db: Db) => Promise<unknown>) {
  const statements: string[] = []
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  })
  await run(db)
  return statements[0] as string
}

const page = { after: { no: 0, at: laggingDay }, before: laggingDay, limit: 1, bytes: PAGE_BYTES, deliverable: true }

/**
 * A page of messages with events of a day long ago. The service does not prepare the statement, so it is planned each time. The plain
 * statement reads them from the partition of that day.
 */
export const lagging: HotWrite = {
  name: 'message of a webhook 60 days behind, read',
  variables: {
    after_no: 'bigint',
    after_at: `timestamptz := '${laggingDay}T00:00:00Z'`,
    before: `timestamptz := '${laggingDay}T00:00:00Z'::timestamptz + interval '1 day'`,
  },
  load: `select min(e.no) - 1 into strict after_no from events e where e.team_id = team and e.logged_at >= after_at and e.logged_at < before;`,
  prepare: '',
  calls: [
    `execute $page$${await statementOf((db) => listEvents(db, '', page))}$page$ using team, after_no, after_at, before, batch, team, ${PAGE_BYTES}`,
  ],
  plain: [
    `perform e.no, e.id, e.event_type, e.user_id, e.key, e.created_at, e.sealed, k.id, k.wrapped from events_${laggingDay.replaceAll('-', '')} e
     left join sealing_keys k on k.team_id = team and k.user_id = e.user_id where e.team_id = team and e.no > after_no order by e.no limit batch`,
  ],
}

/** Events of each kept day, before the first position of the log, for `lagging`. */
export const seedHistory = `
  insert into events select e.* from (select e as one from events e where e.event_type = 'daily.data.heartrate.created' limit 1) stored,
    generate_series(now() - interval '90 days', now() - interval '1 day', interval '7 minutes') with ordinality day (at, n),
    jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'no', n - 1000000, 'logged_at', at)) e`
