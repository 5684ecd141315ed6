import { z } from 'zod'
import { Id, Instant, openEnum, Success, Text } from './common.ts'
import { endpoint } from './endpoint.ts'
import { connectionErrors, deviceTypes } from './provider-events.ts'
import { PushSourceIn, SourceIn } from './sources.ts'

const UserId = z.object({ user_id: Id })

const Scopes = z.object({ required: z.array(z.string()), optional: z.array(z.string()) })

const Connection = z
  .object({
    name: z.string(),
    slug: z.string(),
    logo: z.string(),
    created_on: Instant,
    status: openEnum(['connected', 'error', 'paused']),
    external_user_id: z.string().nullable().describe("The user's account at the source, where it is known."),
    error_details: z.object({ error_type: openEnum(connectionErrors), error_message: z.string(), errored_at: Instant }).nullable(),
    resource_availability: z.record(
      z.string(),
      z.object({
        status: openEnum(['available', 'unavailable']),
        scope_requirements: z.object({ user_granted: Scopes, user_denied: Scopes }).nullable(),
      }),
    ),
  })
  .meta({ id: 'Connection' })

const Device = z
  .object({
    id: Id,
    user_id: Id,
    provider: z.string(),
    source_type: openEnum(deviceTypes),
    app_id: z.string().nullable(),
    device_manufacturer: z.string().nullable(),
    device_model: z.string().nullable(),
    device_version: z.string().nullable(),
    device_id: z.string().nullable(),
  })
  .meta({ id: 'Device' })

const connection = { auth: 'team', tag: 'Connections' } as const
const unknown = { 404: 'No such user in this team, or the user is scheduled for deletion.' }

export const connectionEndpoints = {
  listConnections: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/providers/{user_id}',
    summary: 'List the sources that a user has connected',
    params: UserId,
    returns: z.object({ providers: z.array(Connection) }).meta({ id: 'Connections' }),
    refusals: unknown,
  }),
  endConnection: endpoint({
    ...connection,
    method: 'delete',
    path: '/v2/user/{user_id}/{provider}',
    summary: 'Disconnect a source',
    description: 'Nothing more is taken from the source, and it is told so where it can be. Data that came stays.',
    params: z.object({ user_id: Id, provider: SourceIn }),
    returns: Success,
    refusals: { 404: 'No such user in this team, or the source is not connected.' },
  }),
  connectPushSource: endpoint({
    ...connection,
    method: 'post',
    path: '/v2/link/provider/manual/{provider}',
    summary: 'Connect a source that pushes',
    description: 'Phones, meters and your own application call this before they send data. Connecting twice changes nothing.',
    params: z.object({ provider: PushSourceIn }),
    body: z.object({ user_id: Id, provider_id: Text(200).nullish() }).meta({ id: 'NewPushConnection' }),
    returns: Success,
    refusals: unknown,
  }),
  listDevices: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/{user_id}/device',
    summary: "List a user's devices",
    params: UserId,
    returns: z.array(Device),
    refusals: unknown,
  }),
  getDevice: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/{user_id}/device/{device_id}',
    summary: 'Read a device',
    params: z.object({ user_id: Id, device_id: Id }),
    returns: Device,
    refusals: { 404: 'No such user in this team, or no such device of the user.' },
  }),
}
