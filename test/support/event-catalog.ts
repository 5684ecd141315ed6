import { sql } from 'kysely'
import { expect } from 'vitest'
import { BEGINNING } from '../../src/contract/delivery/log-rows.ts'
import { isEventName, messageOf } from '../../src/contract/events.ts'
import { readLog } from '../../src/delivery/events/log.ts'
import type { App } from '../../src/platform/app.ts'
import { moveAllEvents } from './events.ts'
import { anyTeamOfTest } from './test-role.ts'

/** Checks that every logged event matches its schema exactly, and returns the event types seen. */
export async function expectEventsMatchCatalog(app: App) {
  await moveAllEvents(app)
  const { rows } = await sql<{ team_id: string }>`select ${anyTeamOfTest} distinct team_id from events`.execute(app.db)
  const seen = new Set<string>()
  for (const { team_id } of rows) {
    for await (const { cursor, ...event } of everyEvent(app, team_id)) {
      expect(isEventName(event.event_type), event.event_type).toBe(true)
      const parsed = messageOf(event.event_type as 'labtest.order.created').parse(event)
      expect(parsed).toEqual(event)
      seen.add(event.event_type)
    }
  }
  return seen
}

async function* everyEvent(app: App, team_id: string) {
  for (let after = { no: 0, at: BEGINNING }; ; ) {
    const { events, position } = await readLog(app, team_id, { after, limit: 1000 })
    yield* events
    if (position.no === after.no) return
    after = position
  }
}
