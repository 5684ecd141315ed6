import { z } from 'zod'
import { Cursor, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe } from '../personal.ts'
import { OAuthSourceIn } from '../tenants/sources.ts'

const AT_ONCE = 1000
const TOKEN = 16_384

const recipe = {
  user_id: Id,
  access_token: Text(TOKEN),
  refresh_token: z.string().max(TOKEN).describe('Empty where the source gave none.'),
  provider_id: z.string().max(200).describe("The user's account at the source; empty where it is not known."),
  expires_at: z.int().min(0).max(253_402_300_799).describe('When the access token ends, in seconds since 1970; 0 where it does not.'),
  oauth_scopes: z.array(Text(200)).max(100).nullish(),
}

const UserIds = z.array(Id).min(1).max(AT_ONCE)
const Waits = z.boolean().default(false).describe('Waits up to 20 seconds for the end.')
const goesOn = (answer: unknown) => (answer as { goes_on: boolean }).goes_on

const BulkOp = z
  .object({
    type: openEnum(['link_bulk_import', 'link_bulk_historical_trigger']),
    status: openEnum(['in_progress', 'success', 'failure', 'aborted']),
    provider: Safe,
    pending: z.int(),
    processed: z.int(),
    started_at: Instant,
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'BulkOperation' })

const bulk = { auth: 'team', tag: 'Connections' } as const
const notHere = { 400: 'The source is not set up for the team.' }

export const bulkEndpoints = {
  listBulkOps: endpoint({
    ...bulk,
    method: 'get',
    path: '/v2/link/bulk_op',
    summary: 'List operations on many connections, newest first',
    subjects: {},
    query: z.object({ next_cursor: Cursor, page_size: z.int().min(0).max(50).default(10) }),
    returns: z.object({ data: z.array(BulkOp), next_cursor: Safe.nullable() }).meta({ id: 'BulkOperations' }),
  }),
  bulkImport: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_import',
    summary: 'Import connections that were made elsewhere',
    subjects: { user_id: 'body.connections[].user_id' },
    description: `At most ${AT_ONCE} at once, for a source at which the team has credentials of its own. 202 says that it goes on; the answer then holds what is done so far.`,
    body: z
      .object({
        provider: OAuthSourceIn,
        connections: z.array(z.object(recipe)).min(1).max(AT_ONCE),
        wait_for_completion: Waits,
      })
      .meta({ id: 'ConnectionsToImport' }),
    returns: z.object({ user_ids_imported: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'ConnectionsImported' }),
    goesOn,
    refusals: notHere,
  }),
  bulkTriggerHistoricalPull: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_trigger_historical_pull',
    summary: 'Fetch the history of many users anew',
    subjects: { user_id: 'body.user_ids[]' },
    description: 'A user fails who has not connected the source, or whose source cannot be asked.',
    body: z.object({ user_ids: UserIds, provider: OAuthSourceIn, wait_for_completion: Waits }).meta({ id: 'HistoryToPull' }),
    returns: z.object({ user_ids_triggered: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'HistoryPulled' }),
    goesOn,
  }),
  bulkExport: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_export',
    summary: 'Export connections with their tokens',
    subjects: { user_id: 'result.data[].user_id' },
    description: 'Everything that is needed to go on elsewhere. Keep it as you keep a key.',
    body: z
      .object({
        user_ids: UserIds.nullish(),
        provider: OAuthSourceIn,
        next_token: Text(512).nullish().describe('The next_token of the page before.'),
      })
      .meta({ id: 'ConnectionsToExport' }),
    returns: z
      .object({
        data: z.array(
          z.object({
            user_id: Id,
            access_token: PersonalText,
            refresh_token: PersonalText,
            provider_id: PersonalText,
            expires_at: z.int(),
            oauth_scopes: z.array(Safe).nullable(),
          }),
        ),
        next_token: Safe.nullable(),
      })
      .meta({ id: 'ConnectionsExported' }),
  }),
  bulkPause: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_pause',
    summary: 'Pause connections',
    subjects: { user_id: 'body.user_ids[]' },
    description: 'Nothing is fetched through a paused connection until the user connects again.',
    body: z.object({ user_ids: UserIds, provider: OAuthSourceIn }).meta({ id: 'ConnectionsToPause' }),
    returns: z.object({ user_ids_paused: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'ConnectionsPaused' }),
  }),
}
