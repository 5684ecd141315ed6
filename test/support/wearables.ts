import type { App } from '../../src/app.ts'
import type { Client } from '../../src/contract/client.ts'
import { type EventName, messageOf } from '../../src/contract/events.ts'
import { readLog } from '../../src/events/emit.ts'

let users = 0

/** A fresh user of the tenant. */
export const aUser = async (api: Client, change: object = {}) =>
  (await api.createUser({ body: { client_user_id: `wearer-${++users}`, ...change } })).user_id

export const aSample = (start_date: string, value: unknown, change: object = {}) => ({ value, start_date, ...change })

/** Pushes samples from a watch unless it is said otherwise. */
export const push = (api: Client, user_id: string, resource: string, data: unknown[], change: object = {}) =>
  api.pushSamples({ params: { user_id, resource }, body: { provider: 'apple_health_kit', data, ...change } })

/** Everything that a team was told of a user, each event checked against its row of the catalogue. */
export async function toldOf(app: App, team_id: string, user_id: string) {
  const events = (await readLog(app, team_id, 0, 10_000)).filter((event) => event.user_id === user_id)
  for (const { event_type, data, user_id, client_user_id, id, created_at } of events) {
    const message = { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at }
    const { error } = messageOf(event_type as EventName).safeParse(message)
    if (error) throw new Error(`${event_type}: ${error.message}`)
  }
  return events.map(({ event_type, data }) => ({ event_type, data: data as Record<string, unknown> & { data: Record<string, unknown>[] } }))
}
