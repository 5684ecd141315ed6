import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { type Failure, failures } from '../../../platform/outbound/outcome.ts'
import { fixedHeaders, lowerCaseHeaders } from '../../../platform/outbound/send.ts'
import { type PageQuery, pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { open } from '../../../platform/sealing/seal.ts'
import { bodyOf, keyOfMessage } from '../../events/body.ts'
import { checkEventType } from '../../events/rules.ts'
import { requireWebhook, type WebhookPath } from '../management/actions.ts'
import { shownUrl } from '../rules-urls.ts'
import { type AttemptContents, attemptAssociatedData, headersOfMessage } from '../sending/contents.ts'
import * as store from './store-attempts.ts'

type Query = store.AttemptFilter & PageQuery

export async function listWebhookAttempts(app: App, caller: ManagementCaller, path: WebhookPath, { limit, next_cursor, ...filter }: Query) {
  checkEventType(filter.event_type, ['query', 'event_type'])
  await requireWebhook(app, caller, path)
  const page = pageAfter(next_cursor, limit)
  const found = await store.listAttempts(app.db, path, filter, page)
  const { rows, next_cursor: next } = pageOf(found, page, ({ at, id }) => ({ at, id }))
  return { data: rows.map(presentAttempt), next_cursor: next }
}

export async function getWebhookAttempt(app: App, caller: ManagementCaller, path: WebhookPath & { attempt_id: string }) {
  await requireWebhook(app, caller, path)
  const found = await store.findAttempt(app.db, path, path.attempt_id)
  if (!found?.sealed || (found.user_id && !found.key_id))
    throw problem('ATTEMPT_NOT_FOUND', 'This webhook has no such attempt, or it is past retention. List its attempts to see their IDs.')
  const key = await keyOfMessage(app, found)
  const { url, signature, headers, body, content_type, ...response } = open<AttemptContents>(
    key,
    attemptAssociatedData(found.id),
    found.sealed,
  )
  const { event_sealed, created_at } = found
  const eventBody = event_sealed && created_at ? bodyOf(key, { ...found, created_at, sealed: event_sealed }) : null
  return {
    ...presentAttempt(found),
    url: shownUrl(caller, url),
    request_headers: {
      ...fixedHeaders,
      ...lowerCaseHeaders(headers),
      ...headersOfMessage({ ...found, content_type }, signature, found.at),
    },
    request_body: body ?? eventBody,
    ...response,
  }
}

export const presentAttempt = (row: Omit<store.AttemptRow, 'user_id' | 'event_at'>) => ({
  ...row,
  sequence: row.no ?? 0,
  example: row.no === null,
  key: row.key ?? row.event_id,
  error_message: row.error && (failures[row.error as Failure] ?? failures.failed),
  next_try_at: row.next_at,
})
