import { z } from 'zod'
import { Cursor, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe } from '../personal.ts'
import { OAuthSourceIn } from '../tenants/sources.ts'

export const MAX_BULK_ITEMS = 1000
const MAX_TOKEN_CHARACTERS = 16_384

const importedConnection = {
  user_id: Id,
  access_token: Text(MAX_TOKEN_CHARACTERS),
  refresh_token: z.string().max(MAX_TOKEN_CHARACTERS).describe('Empty if the source issued none.'),
  provider_id: z.string().max(200).describe("The ID of the user's account at the source. Empty if unknown."),
  expires_at: z
    .int()
    .min(0)
    .max(253_402_300_799)
    .describe('When the access token expires, in seconds since 1970. 0 if it does not expire.'),
  oauth_scopes: z.array(Text(200)).max(100).nullish(),
}

const UserIds = z.array(Id).min(1).max(MAX_BULK_ITEMS)
const WaitForCompletion = z.boolean().default(false).describe('Waits up to 20 seconds for completion.')
const isStillRunning = (result: unknown) => (result as { isRunning: boolean }).isRunning

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
const sourceNotSetUp = { 400: 'The source is not set up for the team.' }

export const bulkEndpoints = {
  listBulkOps: endpoint({
    ...bulk,
    method: 'get',
    path: '/v2/link/bulk_op',
    summary: 'List bulk operations',
    description: 'Returns imports and historical pulls, newest first.',
    subjects: {},
    query: z.object({ next_cursor: Cursor, page_size: z.int().min(0).max(50).default(10) }),
    returns: z.object({ data: z.array(BulkOp), next_cursor: Safe.nullable() }).meta({ id: 'BulkOperations' }),
  }),
  bulkImport: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_import',
    summary: 'Import connections',
    subjects: { user_id: 'body.connections[].user_id' },
    description: `Takes over connections with their OAuth tokens from another service. The team needs its own credentials at the source. At most ${MAX_BULK_ITEMS.toLocaleString('en-US')} connections per request. With status 202 the import continues, and the response lists the users that are done.`,
    body: z
      .object({
        provider: OAuthSourceIn,
        connections: z.array(z.object(importedConnection)).min(1).max(MAX_BULK_ITEMS),
        wait_for_completion: WaitForCompletion,
      })
      .meta({ id: 'ConnectionImportRequest' }),
    returns: z.object({ user_ids_imported: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'ConnectionImport' }),
    waitsForClouds: true,
    isStillRunning,
    refusals: sourceNotSetUp,
  }),
  bulkTriggerHistoricalPull: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_trigger_historical_pull',
    summary: 'Pull the history of many users',
    subjects: { user_id: 'body.user_ids[]' },
    description:
      'Fetches the history of a source again, from demo connections and from the sources that Assay reads. Users with another connection fail. With status 202 the pull continues.',
    body: z
      .object({ user_ids: UserIds, provider: OAuthSourceIn, wait_for_completion: WaitForCompletion })
      .meta({ id: 'HistoricalPullRequest' }),
    returns: z.object({ user_ids_triggered: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'HistoricalPull' }),
    waitsForClouds: true,
    isStillRunning,
  }),
  bulkExport: endpoint({
    ...bulk,
    grantsAccess: true,
    method: 'post',
    path: '/v2/link/bulk_export',
    summary: 'Export connections with their tokens',
    subjects: { user_id: 'result.data[].user_id' },
    description: 'Returns the OAuth tokens, so that you can continue at another service. Protect the response like a key.',
    body: z
      .object({
        user_ids: UserIds.nullish(),
        provider: OAuthSourceIn,
        next_token: Text(512).nullish().describe('The next_token of the previous page.'),
      })
      .meta({ id: 'ConnectionExportRequest' }),
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
      .meta({ id: 'ConnectionExport' }),
  }),
  bulkPause: endpoint({
    ...bulk,
    method: 'post',
    path: '/v2/link/bulk_pause',
    summary: 'Pause connections',
    subjects: { user_id: 'body.user_ids[]' },
    description: 'Assay fetches nothing through a paused connection until the user connects again.',
    body: z.object({ user_ids: UserIds, provider: OAuthSourceIn }).meta({ id: 'ConnectionPauseRequest' }),
    returns: z.object({ user_ids_paused: z.array(Id), user_ids_failed: z.array(Id) }).meta({ id: 'ConnectionPause' }),
  }),
}
