import { query } from './query.ts'

/** Makes each write to a table take a while, so that writes which arrive together find others in flight even on a busy machine. */
export async function withSlowWrites<T>(url: string, table: string, work: () => Promise<T>): Promise<T> {
  await query(
    url,
    `create function take_a_while() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return null; end $$;
     create trigger take_a_while after insert or update on ${table} for each statement execute function take_a_while()`,
  )
  try {
    return await work()
  } finally {
    await query(url, `drop trigger take_a_while on ${table}; drop function take_a_while`)
  }
}
