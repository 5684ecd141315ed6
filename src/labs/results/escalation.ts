import { emit } from '../../delivery/events/emit.ts'
import { queueMessage } from '../../delivery/messages/outbox.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import type { Db } from '../../platform/db/open.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { listAdministratorEmails } from '../../tenants/people/actions.ts'
import { loadEscalation } from '../../tenants/teams/patients.ts'
import { type LoadedOrder, requireOrder } from '../orders/reading/present.ts'
import * as rules from './rules-escalation.ts'
import * as store from './store-escalation.ts'

export { searchEscalations } from './store-escalation.ts'

/** When a critical result that is reported now is escalated, unless someone acknowledges it. */
export async function firstEscalationAt(app: AppInTransaction, team_id: string) {
  const { waits_minutes } = await loadEscalation(app, team_id)
  return rules.nextEscalationAt(waits_minutes, 0, app.now())
}

const BATCH_SIZE = 50

/** Escalates the critical results that are due on their team's clock; returns whether there may be more. */
export async function escalateCriticals(app: App) {
  const due = await store.listDueEscalations(app.db, app.wall(), BATCH_SIZE)
  for (const { clock_offset_ms, ...critical } of due)
    await inTransaction(onTeamClock(app, { clock_offset_ms }), (app) => escalate(app, critical))
  return due.length === BATCH_SIZE
}

type CriticalKey = { team_id: string; order_id: string; version: number }

/** The next wait counts from now, so that a clock that jumps, or a service that was down, leads to one escalation. */
async function escalate(app: AppInTransaction, critical: CriticalKey) {
  const at = app.now()
  const locked = await store.lockDueCritical(app.db, critical, at)
  if (!locked) return
  const settings = await loadEscalation(app, critical.team_id)
  const escalation = locked.escalations + 1
  const escalate_at = rules.nextEscalationAt(settings.waits_minutes, escalation, at)
  if (!escalate_at) return store.updateCritical(app.db, critical, { escalate_at })
  await store.updateCritical(app.db, critical, { escalate_at, escalations: escalation, escalated_at: at })
  const order = await requireOrder(app, critical.team_id, critical.order_id)
  const reachesAdministrators = rules.reachesAdministrators(settings.waits_minutes, escalation)
  const administrators = reachesAdministrators ? await listAdministratorEmails(app, settings.org_id) : []
  const facts = { result_version: critical.version, reported_at: locked.reported_at, escalation }
  await queueEmails(app, order, new Set([...settings.contacts, ...administrators]), { ...facts, team_name: settings.team_name })
  await emitEscalation(app, order, {
    ...facts,
    recipients: reachesAdministrators ? 'administrators' : 'contacts',
    next_escalation_at: escalate_at,
  })
}

type Facts = { result_version: number; reported_at: string; escalation: number }

function emitEscalation(app: AppInTransaction, order: LoadedOrder, facts: Facts & { recipients: string; next_escalation_at: string }) {
  const { id: order_id, team_id, user_id, client_user_id, sample_id } = order
  return emit(app, order.key, {
    ...{ team_id, user_id, order_id, client_user_id },
    event_type: 'labtest.result.critical.escalated',
    key: `critical:${order_id}`,
    data: { order_id, sample_id, team_id, user_id: user_id as string, ...facts },
    at: app.now(),
  })
}

async function queueEmails(
  app: AppInTransaction,
  { team_id, id: order_id }: LoadedOrder,
  recipients: Set<string>,
  facts: Facts & { team_name: string },
) {
  const key = await teamSealingKey(app, team_id)
  const email = rules.escalationEmail({
    ...facts,
    order_id,
    url: `${publicUrl(app.config)}/console/orders/${order_id}?tab=results&review=open`,
  })
  for (const to of recipients)
    await queueMessage(app, key, {
      ...{ team_id, user_id: null, order_id, kind: 'critical_escalation' },
      document: { ...email, to, from_name: facts.team_name, reply_to: null, language: 'en' },
    })
}

const FIGURES_DAYS = 7
const MAX_COUNTED = 10_000

/** Open critical results of the deployment, and how long it took to acknowledge those of the last week. */
export const criticalFigures = (db: Db, wall: string) => store.summarizeCriticals(db, wall, later(wall, -FIGURES_DAYS * DAY), MAX_COUNTED)
