import { type Client, createClient } from '../../src/contract/client.ts'
import { type EventName, eventTypes } from '../../src/contract/events.ts'
import type { App } from '../../src/platform/app.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { recordDevice } from '../../src/wearables/connections/devices.ts'
import { eventsOf } from './events.ts'
import { aUser } from './users.ts'

/** The connection and device events of a team, checked against their schemas. */
export async function connectionEvents(app: App, team_id: string) {
  const log = (await eventsOf(app, team_id)).filter(({ event_type }) => event_type.startsWith('provider.'))
  for (const { event_type, data } of log) eventTypes[event_type as EventName].data.parse(data)
  return log.map(({ event_type, user_id, data }) => ({ event_type, user_id, data: data as Record<string, unknown> }))
}

/** A user with a connected phone and a device. */
export async function aConnectedUser(app: App, api: Client, team_id: string) {
  const user_id = await aUser(api)
  await api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
  const user = await requireUser(app, team_id, user_id)
  const device_id = await recordDevice(app, user, 'apple_health_kit', { source_type: 'watch', device_model: 'Tidemark 2' })
  return { user_id, device_id }
}

/** A client with only a link token. */
export async function aLink(base: string, api: Client, overrides: Partial<Parameters<Client['createLinkToken']>[0]['body']> = {}) {
  const user_id = overrides.user_id ?? (await aUser(api))
  const { link_token, link_web_url } = await api.createLinkToken({ body: { user_id, ...overrides } })
  return { user_id, link_token, link_web_url, link: createClient(base, { 'x-vital-link-token': link_token }) }
}

/** Replaces the public base URL with that of the test server. */
export const localUrl = (base: string, url: string) => url.replace(/^http:\/\/127\.0\.0\.1:8080/, base)
