import { isSupported } from '../../contract/delivery/pipelines.ts'
import type { App } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import * as rules from './rules.ts'
import { isTypePersonal, personalFields } from './rules-fields.ts'
import * as store from './store.ts'

/** The migration with which counting begins. */
export const FIRST_MIGRATION = '0007_formats.sql'

type Query = { from: string; to?: string | null | undefined; limit: number; next_cursor?: string | null | undefined }

/** Which personal fields have reached which destination, and since when this is known. */
export async function listDisclosures(app: App, caller: ManagementCaller, { team_id }: { team_id: string }, query: Query) {
  const team = await requireTeam(app, caller, team_id)
  const now = app.wall()
  const { from, to, limit } = { ...query, to: query.to ?? now.slice(0, 10) }
  const groups = await store.listDisclosures(app.db, team_id, { from, to, after: rules.parseCursor(query.next_cursor), limit: limit + 1 })
  const page = groups.slice(0, limit)
  const last = page.at(-1)
  return {
    known_from: [team.created_on, (await store.findStart(app.db, FIRST_MIGRATION)) ?? now, `${rules.firstDay(now)}T00:00:00.000Z`]
      .toSorted()
      .at(-1) as string,
    data: page.map(({ alike, destination, ...group }) => ({
      ...group,
      destination: isSupported(destination) ? destination : 'webhook',
      webhook_id: isSupported(destination) ? null : destination,
      messages: alike.reduce((sum, { count }) => sum + count, 0),
      fields: rules.countByField(alike),
    })),
    next_cursor: groups.length > limit && last ? rules.cursorOf(last) : null,
  }
}

/** Counts events that have reached a destination. */
export async function recordDisclosures({ db }: App, team_id: string, disclosures: rules.Disclosure[]) {
  const counts = rules.countAlike(disclosures)
  if (counts.length) await store.countDisclosures(db, team_id, counts)
}

/** The fields of each event in memory, because most events go to several destinations. */
const known = new WeakMap<object, string[]>()

/** The personal fields of an event that have a value. `full` is its body in the format `full`. */
export function fieldsOf(event: { event_type: string }, full: string): string[] {
  if (!isTypePersonal(event.event_type)) return []
  const fields = known.get(event) ?? personalFields(event.event_type, (JSON.parse(full) as { data: unknown }).data)
  known.set(event, fields)
  return fields
}

export const pruneDisclosures = (app: App) => store.pruneDisclosures(app.db, rules.firstDay(app.wall()))
