import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { ConsoleUser, TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { actorKindOf } from '../../tenants/audit/actions.ts'
import { findPersonName } from '../../tenants/people/actions.ts'
import { type LoadedOrder, lockOrder, requireOrder } from '../orders/reading/present.ts'
import * as rules from './rules-acknowledgment.ts'
import * as store from './store.ts'

export async function getCriticalResult(app: App, { team_id }: TeamCaller, order_id: string) {
  const order = await requireOrder(app, team_id, order_id)
  return presentCriticalResult(app, order, await requireCritical(app, order))
}

/** Acknowledges the latest report. The lock of the order keeps newer reports out until the record is committed. */
export const acknowledgeCritical = (app: App, caller: TeamCaller, order_id: string, sent: rules.NewAcknowledgment) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, caller.team_id, order_id)
    const critical = await requireCritical(app, order)
    const acknowledged_version = rules.checkComplete(caller, sent)
    if (critical.acknowledged_at) return presentCriticalResult(app, order, critical)
    rules.checkVersion(acknowledged_version, order.result_version)
    const document: rules.AcknowledgmentDocument = { reviewer: await reviewerOf(app, caller.console, sent), note: sent.note ?? null }
    const by = {
      acknowledged_at: app.now(),
      acknowledged_kind: actorKindOf(caller),
      acknowledged_by: caller.console?.actor_id ?? caller.key_id,
      acknowledged_version,
    }
    for (const { version } of await store.listOpenCriticals(app.db, order))
      await store.acknowledge(app.db, order, version, { ...by, sealed: seal(order.key, associatedData(order_id, version), document) })
    return presentCriticalResult(app, order, await requireCritical(app, order))
  })

async function requireCritical(app: App, order: LoadedOrder) {
  const critical = await store.findLatestCritical(app.db, order)
  if (!critical) throw problem('NOTHING_CRITICAL', 'The order has had no critical result, so there is nothing to acknowledge.')
  return critical
}

/** The name is copied, because the record must outlast the account of the person. */
async function reviewerOf(app: App, console: ConsoleUser | undefined, { reviewer }: rules.NewAcknowledgment): Promise<rules.Reviewer> {
  if (reviewer) return { ...reviewer, role: reviewer.role ?? null }
  if (!console) throw new Error('The reviewer was not checked')
  const { actor_id: reference, role } = console
  return { name: (await findPersonName(app, reference))?.name ?? '', reference, role }
}

async function presentCriticalResult(app: App, order: LoadedOrder, row: store.CriticalRow) {
  const {
    version: critical_version,
    reported_at,
    acknowledged_at,
    acknowledged_version,
    acknowledged_kind: type,
    acknowledged_by: id,
  } = row
  const document = row.sealed && open<rules.AcknowledgmentDocument>(order.key, associatedData(order.id, critical_version), row.sealed)
  const { reviewer, note } = document ?? { reviewer: null, note: null }
  const name = type === 'person' && id ? (reviewer?.name ?? (await findPersonName(app, id))?.name ?? null) : null
  return {
    ...{ order_id: order.id, result_version: order.result_version, critical_version, reported_at, acknowledged_at, acknowledged_version },
    acknowledged_by: type ? { type, id, name } : null,
    ...{ reviewer, note },
  }
}

const associatedData = (order_id: string, version: number) => `critical_results.sealed.${order_id}.${version}`

/** Deletes who was informed about the results of users that are erased. When and by whom they were acknowledged stays. */
export const forgetAcknowledgments = (app: AppInTransaction, team_id: string, user_ids: string[]) =>
  store.forgetAcknowledgments(app.db, team_id, user_ids)
