import { z } from 'zod'
import { Id, Instant, openEnum, Success, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe } from '../personal.ts'
import { PushSourceIn, SourceIn } from '../tenants/sources.ts'
import { connectionErrors } from './provider-events.ts'
import { sourceTypes } from './series.ts'

const UserId = z.object({ user_id: Id })

const Scopes = z.object({ required: z.array(Safe), optional: z.array(Safe) })

const Connection = z
  .object({
    name: Safe,
    slug: Safe,
    logo: Safe,
    created_on: Instant,
    status: openEnum(['connected', 'error', 'paused']),
    external_user_id: PersonalText.nullable().describe("The user's account at the source, where it is known."),
    error_details: z.object({ error_type: openEnum(connectionErrors), error_message: Safe, errored_at: Instant }).nullable(),
    resource_availability: z.record(
      Safe,
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
    provider: Safe,
    source_type: openEnum(sourceTypes),
    app_id: Safe.nullable(),
    device_manufacturer: Safe.nullable(),
    device_model: Safe.nullable(),
    device_version: Safe.nullable(),
    device_id: PersonalText.nullable(),
  })
  .meta({ id: 'Device' })

const connection = { auth: 'team', tag: 'Connections', subjects: { user_id: 'path.user_id' } } as const
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
    userToken: true,
    summary: 'Connect a source that pushes',
    subjects: { user_id: 'body.user_id' },
    description: 'Phones, meters and your own application call this before they send data. Connecting twice changes nothing.',
    params: z.object({ provider: PushSourceIn }),
    body: z
      .object({ user_id: Id, provider_id: Text(200).nullish().describe("The user's account at the source, where it has one.") })
      .meta({ id: 'NewPushConnection' }),
    returns: Success,
    refusals: unknown,
  }),
  refreshUser: endpoint({
    ...connection,
    method: 'post',
    path: '/v2/user/refresh/{user_id}',
    summary: "Ask a user's sources for news",
    description:
      'Waits for the sources up to `timeout` seconds; 202 says that some are still at it. Sources that push are not asked. 8 times an hour for each user.',
    params: UserId,
    query: z.object({ timeout: z.number().min(5).max(60).default(10) }),
    returns: z
      .object({
        success: z.literal(true),
        user_id: Id,
        refreshed_sources: z.array(Safe),
        in_progress_sources: z.array(Safe),
        failed_sources: z.array(Safe),
      })
      .meta({ id: 'Refreshed' }),
    goesOn: (answer) => (answer as { in_progress_sources: string[] }).in_progress_sources.length > 0,
    refusals: {
      ...unknown,
      400: 'No source could be refreshed; `success`, `user_id`, `error` and `failed_sources` stand beside `detail`.',
      429: 'The sources of this user were refreshed 8 times within the last hour.',
    },
  }),
  createUserToken: endpoint({
    ...connection,
    method: 'post',
    path: '/v2/user/{user_id}/sign_in_token',
    summary: "Make a token for a user's phone",
    description:
      'Sent as `Authorization: Bearer`, it connects sources that push and sends data, of this user only. Good for an hour, and gone with the key that made it.',
    params: UserId,
    returns: z.object({ user_id: Id, sign_in_token: Safe, expires_in: z.int().describe('Seconds.') }).meta({ id: 'UserToken' }),
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
