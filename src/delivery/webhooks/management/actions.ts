import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { NewWebhook, WebhookPatch } from '../../../contract/delivery/webhooks.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { checkUrl } from '../../../platform/outbound/url.ts'
import { type PageQuery, pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { requireTeam } from '../../../tenants/teams/actions.ts'
import { changeAtEnd, changeDelivery } from '../../events/change-log.ts'
import { checkEventTypes } from '../../events/rules.ts'
import { presentFormat } from '../../formats/rules.ts'
import { changeFormat, forgetFormats, listFormats } from '../../formats/settings.ts'
import { countWaiting } from '../backlog.ts'
import { openSecrets, sealSecrets } from '../endpoints.ts'
import { nextAttemptAt } from '../rules-health.ts'
import { shownUrl } from '../rules-urls.ts'
import { newSecret, parseSecret } from '../sign.ts'
import { newKeyPair, publicKeyOf } from '../sign-ed25519.ts'
import * as store from '../store.ts'
import * as cursors from '../store-positions.ts'

type Path = { team_id: string }
export type WebhookPath = Path & { webhook_id: string }

export async function listWebhooks(app: App, caller: ManagementCaller, { team_id }: Path, query: PageQuery) {
  await requireTeam(app, caller, team_id)
  const page = pageAfter(query.next_cursor, query.limit)
  const found = await store.listWebhooks(app.db, team_id, page)
  const { rows, next_cursor } = pageOf(found, page, (webhook) => ({ at: webhook.created_at, id: webhook.id }))
  return { data: await presentWebhooks(app, caller, team_id, rows), next_cursor }
}

/** The owner of a team looks at all of its webhooks for each event. */
export const MAX_WEBHOOKS = 2000

function checkCount(count: number) {
  if (count >= MAX_WEBHOOKS)
    throw problem(
      'TOO_MANY_WEBHOOKS',
      `A team can have ${MAX_WEBHOOKS.toLocaleString('en-US')} webhooks. Delete webhooks that are no longer used.`,
    )
}

export async function createWebhook(app: App, caller: ManagementCaller, { team_id }: Path, body: z.output<typeof NewWebhook>) {
  await requireTeam(app, caller, team_id)
  checkUrl(body.url, policyOf(app.config))
  checkEventTypes(body.filter_types, ['body', 'filter_types'])
  const key = body.secret ?? newSecret()
  parseSecret(key)
  const pairs = body.asymmetric ? [newSigningPair()] : []
  return changeAtEnd(app, team_id, async (app, end) => {
    checkCount((await store.countWebhooks(app.db, team_id)).count)
    const id = randomUUID()
    const now = app.wall()
    const secrets = { keys: [{ key, until: null }], pairs, headers: {}, sensitive: [], url: body.url }
    const row = await store.insertWebhook(app.db, {
      id,
      team_id,
      sealed: await sealSecrets(app, { id, team_id }, secrets),
      description: body.description ?? '',
      filter_types: body.filter_types ?? null,
      rate_limit: body.rate_limit ?? null,
      ordering: body.ordering ?? 'per_key',
      created_at: now,
      updated_at: now,
      disabled_at: body.disabled ? now : null,
    })
    await cursors.insertCursor(app.db, { team_id, webhook_id: id, after_no: end.no, after_at: end.at })
    await changeFormat(app, { team_id, destination: id, after_no: end.no }, body)
    return presentWebhook(app, caller, row)
  })
}

export const getWebhook = async (app: App, caller: ManagementCaller, path: WebhookPath) =>
  presentWebhook(app, caller, await requireWebhook(app, caller, path))

/** A new filter, ordering or format applies to later events, so it needs the end of the log. */
export async function patchWebhook(app: App, caller: ManagementCaller, path: WebhookPath, patch: z.output<typeof WebhookPatch>) {
  await requireWebhook(app, caller, path)
  if (patch.url) checkUrl(patch.url, policyOf(app.config))
  checkEventTypes(patch.filter_types, ['body', 'filter_types'])
  if (patch.filter_types === undefined && !patch.ordering && !patch.format && typeof patch.include_client_user_id !== 'boolean')
    return changeDelivery(app, path.team_id, (app) => applyPatch(app, caller, path, patch))
  return changeAtEnd(app, path.team_id, (app, end) => applyPatch(app, caller, path, patch, end.no))
}

async function applyPatch(
  app: AppInTransaction,
  caller: ManagementCaller,
  path: WebhookPath,
  patch: z.output<typeof WebhookPatch>,
  end_no?: number,
) {
  const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
  const now = app.wall()
  if (end_no !== undefined) {
    if (patch.filter_types !== undefined || patch.ordering) await cursors.keepFilter(app.db, webhook, end_no)
    await changeFormat(app, { team_id: path.team_id, destination: webhook.id, after_no: end_no }, patch)
  }
  const row = await store.updateWebhook(app.db, path.team_id, webhook.id, {
    updated_at: now,
    ...(await secretChanges(app, webhook, patch)),
    ...(patch.description === undefined ? {} : { description: patch.description ?? '' }),
    ...(patch.rate_limit === undefined ? {} : { rate_limit: patch.rate_limit }),
    ...(patch.filter_types === undefined ? {} : { filter_types: patch.filter_types }),
    ...(patch.ordering ? { ordering: patch.ordering } : {}),
    ...disabledChanges(webhook, patch.disabled, now),
  })
  return presentWebhook(app, caller, row)
}

/** Turning asymmetric signing off and on again creates a new key pair. */
async function secretChanges(app: App, webhook: store.WebhookRow, { url, asymmetric }: z.output<typeof WebhookPatch>) {
  const secrets = await openSecrets(app, webhook)
  const hasPairs = Boolean(secrets.pairs?.length)
  const changesPairs = typeof asymmetric === 'boolean' && !(asymmetric && hasPairs)
  if (!url && !changesPairs) return {}
  const pairs = asymmetric ? [newSigningPair()] : []
  const changed = { ...secrets, ...(changesPairs && { pairs }), ...(url && { url }) }
  return { sealed: await sealSecrets(app, webhook, changed) }
}

export const newSigningPair = () => ({ private_key: newKeyPair().private_key, until: null })

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

/** Its pending messages and jobs are deleted with it. */
export async function deleteWebhook(app: App, caller: ManagementCaller, path: WebhookPath) {
  await requireWebhook(app, caller, path)
  await changeDelivery(app, path.team_id, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    await store.deleteWebhook(app.db, path.team_id, webhook.id)
    await forgetFormats(app, path.team_id, [webhook.id])
  })
}

export async function requireWebhook(app: App, caller: ManagementCaller, { team_id, webhook_id }: WebhookPath, find = store.findWebhook) {
  await requireTeam(app, caller, team_id)
  const webhook = await find(app.db, team_id, webhook_id)
  if (!webhook) throw problem('WEBHOOK_NOT_FOUND', 'No such webhook in this team. List the webhooks to see their IDs.')
  return webhook
}

const presentWebhook = async (app: App, caller: ManagementCaller, row: store.WebhookRow) =>
  (await presentWebhooks(app, caller, row.team_id, [row]))[0] as Awaited<ReturnType<typeof presentWebhooks>>[number]

async function presentWebhooks(app: App, caller: ManagementCaller, team_id: string, rows: store.WebhookRow[]) {
  const waiting = await countWaiting(app.db, team_id, rows)
  const formats = await listFormats(app, team_id)
  const opened = await Promise.all(rows.map(async (row) => ({ row, secrets: await openSecrets(app, row) })))
  return opened.map(({ row, secrets }) => ({
    ...row,
    ...presentFormat(formats.get(row.id) ?? []),
    url: shownUrl(caller, secrets.url),
    public_key: secrets.pairs?.[0] ? publicKeyOf(secrets.pairs[0].private_key) : null,
    disabled: row.disabled_at !== null,
    waiting: waiting.get(row.id)?.count ?? 0,
    waiting_at_least: waiting.get(row.id)?.isAtLeast ?? false,
    failing_since: row.first_failure_at,
    next_try_at: nextAttemptAt(row, waiting.get(row.id)?.next_at ?? null),
  }))
}
