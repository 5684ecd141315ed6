import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { NewWebhook, WebhookPatch } from '../../../contract/delivery/webhooks.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { checkUrl } from '../../../platform/outbound/url.ts'
import { pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { requireTeam } from '../../../tenants/teams/actions.ts'
import { checkEventTypes } from '../../events/rules-event-types.ts'
import { openSecrets, urlOf } from '../endpoints.ts'
import { nextAttemptAt } from '../rules-health.ts'
import { shownUrl } from '../rules-urls.ts'
import { newSecret, parseSecret } from '../sign.ts'
import { newKeyPair, publicKeyOf } from '../sign-ed25519.ts'
import * as store from '../store.ts'
import { secretColumns } from '../urls.ts'
import { PURGE_WEBHOOKS } from './purge.ts'

type Path = { team_id: string }

export async function listWebhooks(
  app: App,
  caller: ManagementCaller,
  { team_id }: Path,
  query: { limit: number; next_cursor?: string | null | undefined },
) {
  await requireTeam(app, caller, team_id)
  const page = pageAfter(query.next_cursor, query.limit)
  const found = await store.listWebhooks(app.db, team_id, page)
  const { rows, next_cursor } = pageOf(found, page, (webhook) => ({ at: webhook.created_at, id: webhook.id }))
  return { data: await presentWebhooks(app, caller, team_id, rows), next_cursor }
}

/** Each event looks at all webhooks of its team. */
export const MAX_WEBHOOKS = 2000

function checkCount(count: number) {
  if (count >= MAX_WEBHOOKS)
    throw problem(
      'TOO_MANY_WEBHOOKS',
      `A team can have ${MAX_WEBHOOKS.toLocaleString('en-US')} webhooks. Delete webhooks that are no longer used.`,
    )
}

export const createWebhook = (app: App, caller: ManagementCaller, { team_id }: Path, body: z.output<typeof NewWebhook>) =>
  inTransaction(app, async (app) => {
    await requireTeam(app, caller, team_id)
    checkUrl(body.url, policyOf(app.config))
    checkEventTypes(body.filter_types, ['body', 'filter_types'])
    checkCount((await store.countWebhooks(app.db, team_id)).count)
    const id = randomUUID()
    const key = body.secret ?? newSecret()
    parseSecret(key)
    const pairs = body.asymmetric ? [newSigningPair()] : []
    const now = app.wall()
    const secrets = { keys: [{ key, until: null }], pairs, headers: {}, sensitive: [] }
    const row = await store.insertWebhook(app.db, {
      id,
      team_id,
      ...(await secretColumns(app, { id, team_id }, secrets, body.url)),
      description: body.description ?? '',
      filter_types: body.filter_types?.length ? body.filter_types : null,
      rate_limit: body.rate_limit ?? null,
      ordering: body.ordering ?? 'per_key',
      created_at: now,
      updated_at: now,
      disabled_at: body.disabled ? now : null,
    })
    return presentWebhook(app, caller, row)
  })

export const getWebhook = async (app: App, caller: ManagementCaller, path: Path & { webhook_id: string }) =>
  presentWebhook(app, caller, await requireWebhook(app, caller, path))

export const patchWebhook = (
  app: App,
  caller: ManagementCaller,
  path: Path & { webhook_id: string },
  patch: z.output<typeof WebhookPatch>,
) =>
  inTransaction(app, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    if (patch.url) checkUrl(patch.url, policyOf(app.config))
    checkEventTypes(patch.filter_types, ['body', 'filter_types'])
    const now = app.wall()
    const row = await store.updateWebhook(app.db, path.team_id, webhook.id, {
      updated_at: now,
      ...(await secretChanges(app, webhook, patch)),
      ...(patch.description === undefined ? {} : { description: patch.description ?? '' }),
      ...(patch.rate_limit === undefined ? {} : { rate_limit: patch.rate_limit }),
      ...(patch.filter_types === undefined ? {} : { filter_types: patch.filter_types?.length ? patch.filter_types : null }),
      ...(patch.ordering ? { ordering: patch.ordering } : {}),
      ...disabledChanges(webhook, patch.disabled, now),
    })
    return presentWebhook(app, caller, row)
  })

/** Turning asymmetric signing off and on again creates a new key pair. */
async function secretChanges(app: App, webhook: store.WebhookRow, { url, asymmetric }: z.output<typeof WebhookPatch>) {
  const secrets = await openSecrets(app, webhook)
  const hasPairs = Boolean(secrets.pairs?.length)
  const changesPairs = typeof asymmetric === 'boolean' && !(asymmetric && hasPairs)
  if (!url && !changesPairs) return {}
  const pairs = asymmetric ? [newSigningPair()] : []
  return secretColumns(app, webhook, changesPairs ? { ...secrets, pairs } : secrets, url ?? urlOf(webhook, secrets))
}

const newSigningPair = () => ({ private_key: newKeyPair().private_key, until: null })

/** Enabling a webhook resets its health. */
function disabledChanges({ disabled_at }: store.WebhookRow, disabled: boolean | null | undefined, now: string) {
  if (disabled === true) return { disabled_at: disabled_at ?? now }
  if (disabled !== false) return {}
  return {
    disabled_at: null,
    disabled_because: null,
    failures: 0,
    trips: 0,
    paused_until: null,
    first_failure_at: null,
    last_failure_at: null,
    clock_started_at: null,
  }
}

/** The webhook is deleted immediately. A job deletes its pending messages afterwards. */
export async function deleteWebhook(app: App, caller: ManagementCaller, path: Path & { webhook_id: string }) {
  await inTransaction(app, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    await store.markDeleted(app.db, path.team_id, webhook.id, app.wall())
  })
  app.wake(PURGE_WEBHOOKS)
}

export async function requireWebhook(
  app: App,
  caller: ManagementCaller,
  { team_id, webhook_id }: Path & { webhook_id: string },
  find = store.findWebhook,
) {
  await requireTeam(app, caller, team_id)
  const webhook = await find(app.db, team_id, webhook_id)
  if (!webhook) throw problem('WEBHOOK_NOT_FOUND', 'No such webhook in this team. List the webhooks to see their IDs.')
  return webhook
}

const presentWebhook = async (app: App, caller: ManagementCaller, row: store.WebhookRow) =>
  (await presentWebhooks(app, caller, row.team_id, [row]))[0] as Awaited<ReturnType<typeof presentWebhooks>>[number]

async function presentWebhooks(app: App, caller: ManagementCaller, team_id: string, rows: store.WebhookRow[]) {
  const ids = rows.map(({ id }) => id)
  const backlog = new Map((await store.backlogOf(app.db, team_id, ids)).map((row) => [row.webhook_id, row]))
  const opened = await Promise.all(rows.map(async (row) => ({ row, secrets: await openSecrets(app, row) })))
  return opened.map(({ row, secrets }) => ({
    ...row,
    url: shownUrl(caller, urlOf(row, secrets)),
    public_key: secrets.pairs?.[0] ? publicKeyOf(secrets.pairs[0].private_key) : null,
    disabled: row.disabled_at !== null,
    waiting: Number(backlog.get(row.id)?.waiting ?? 0),
    failing_since: row.first_failure_at,
    next_try_at: nextAttemptAt(row, backlog.get(row.id)?.next_at ?? null),
  }))
}
