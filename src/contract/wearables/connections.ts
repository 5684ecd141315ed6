import { z } from 'zod'
import { Id, Instant, openEnum, Success, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe } from '../personal.ts'
import { PushSourceIn, SourceIn } from '../tenants/sources.ts'
import { userNotFound } from '../tenants/users.ts'
import { connectionErrorTypes } from './provider-events.ts'
import { sourceTypes } from './series.ts'
import { ConnectionFeed } from './source-status.ts'

const UserId = z.object({ user_id: Id })

const Scopes = z.object({ required: z.array(Safe), optional: z.array(Safe) })

const Connection = z
  .object({
    name: Safe,
    slug: Safe,
    logo: Safe,
    created_on: Instant,
    status: openEnum(['connected', 'error', 'paused']),
    external_user_id: PersonalText.nullable().describe("The ID of the user's account at the source. Null if unknown."),
    error_details: z.object({ error_type: openEnum(connectionErrorTypes), error_message: Safe, errored_at: Instant }).nullable(),
    resource_availability: z.record(
      Safe,
      z.object({
        status: openEnum(['available', 'unavailable']),
        scope_requirements: z.object({ user_granted: Scopes, user_denied: Scopes }).nullable(),
      }),
    ),
    feeds: z.array(ConnectionFeed).describe('What Assay reads from the source, such as `sleep`. Empty if the source pushes.'),
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

export const connectionEndpoints = {
  listConnections: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/providers/{user_id}',
    aliases: ['/v2/user/{user_id}/providers'],
    summary: 'List the connections of a user',
    params: UserId,
    returns: z.object({ providers: z.array(Connection) }).meta({ id: 'Connections' }),
    refusals: userNotFound,
  }),
  endConnection: endpoint({
    ...connection,
    method: 'delete',
    path: '/v2/user/{user_id}/{provider}',
    summary: 'Disconnect a source',
    description: 'Assay accepts no more data from the source and revokes its access there if the source supports it. Existing data stays.',
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
    description:
      'Call it from a phone, a meter or your application before you push data. A second call changes nothing. Emits `provider.connection.created`.',
    params: z.object({ provider: PushSourceIn }),
    body: z
      .object({ user_id: Id, provider_id: Text(200).nullish().describe("The ID of the user's account at the source, if there is one.") })
      .meta({ id: 'NewPushConnection' }),
    returns: Success,
    refusals: userNotFound,
  }),
  refreshUser: endpoint({
    ...connection,
    method: 'post',
    path: '/v2/user/refresh/{user_id}',
    summary: 'Refresh the sources of a user',
    description:
      'Renews the access to OAuth sources, fetches new data from the sources that Assay reads and from demo sources, and waits up to `timeout` seconds. The status is 202 if some sources are still in progress. Sources that push are skipped. Limited to 8 requests per user per hour.',
    params: UserId,
    query: z.object({ timeout: z.number().min(5).max(60).default(10).describe('In seconds.') }),
    returns: z
      .object({
        success: z.literal(true),
        user_id: Id,
        refreshed_sources: z.array(Safe),
        in_progress_sources: z.array(Safe),
        failed_sources: z.array(Safe),
      })
      .meta({ id: 'RefreshResult' }),
    waitsForClouds: true,
    isStillRunning: (result) => (result as { in_progress_sources: string[] }).in_progress_sources.length > 0,
    refusals: {
      ...userNotFound,
      400: 'No source could be refreshed. `success`, `user_id`, `error` and `failed_sources` are next to `detail`.',
      429: 'The sources of this user were already refreshed 8 times in the last hour.',
    },
  }),
  createUserToken: endpoint({
    ...connection,
    method: 'post',
    path: '/v2/user/{user_id}/sign_in_token',
    grantsAccess: true,
    summary: 'Create a sign-in token for a user',
    description:
      'Use it in a phone app instead of a team API key, as `Authorization: Bearer`. The token can connect sources that push and push data of this user. It can read nothing. It expires after an hour, or when the key that created it is revoked.',
    params: UserId,
    returns: z
      .object({ user_id: Id, sign_in_token: Safe, expires_in: z.int().describe('The lifetime in seconds.') })
      .meta({ id: 'UserToken' }),
    refusals: userNotFound,
  }),
  listDevices: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/{user_id}/device',
    summary: 'List the devices of a user',
    params: UserId,
    returns: z.array(Device),
    refusals: userNotFound,
  }),
  getDevice: endpoint({
    ...connection,
    method: 'get',
    path: '/v2/user/{user_id}/device/{device_id}',
    summary: 'Get a device',
    params: z.object({ user_id: Id, device_id: Id }),
    returns: Device,
    refusals: { 404: 'No such user in this team, or the user has no such device.' },
  }),
}
