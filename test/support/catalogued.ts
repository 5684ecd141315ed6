import { sql } from 'kysely'
import { expect } from 'vitest'
import type { App } from '../../src/app.ts'
import { isEventName, messageOf } from '../../src/contract/events.ts'
import { numberEvents, readLog } from '../../src/events/log.ts'

/** Every event of every team in the log is of the catalogue and says what its shape says, no more and no less. */
export async function expectCatalogued(app: App) {
  while (await numberEvents(app));
  const { rows } = await sql<{ team_id: string }>`select distinct team_id from events`.execute(app.db)
  const seen = new Set<string>()
  for (const { team_id } of rows) {
    const { events } = await readLog(app, team_id, { after: 0, limit: 1000 })
    for (const { cursor, ...event } of events) {
      expect(isEventName(event.event_type), event.event_type).toBe(true)
      const told = messageOf(event.event_type as 'labtest.order.created').parse(event)
      expect(told).toEqual(event)
      seen.add(event.event_type)
    }
  }
  return seen
}
