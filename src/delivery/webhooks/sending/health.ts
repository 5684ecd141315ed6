import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { Outcome } from '../../../platform/outbound/outcome.ts'
import { emitForTeam } from '../../events/emit.ts'
import type { Endpoint } from '../endpoints.ts'
import { isGone } from '../rules.ts'
import * as rules from '../rules-health.ts'
import * as store from '../store.ts'

type WebhookKey = { team_id: string; webhook_id: string }
type LaneOutcomes = { endpoint: Endpoint; outcomes: Outcome[] }

/** Records health only when a webhook fails or recovers, so that a healthy webhook's row is never written. */
export async function recordHealth(app: App, team_id: string, runs: LaneOutcomes[]) {
  for (const [webhook_id, runsOfWebhook] of Map.groupBy(runs, (run) => run.endpoint.id))
    if (!runsOfWebhook.every(isHealthy)) await recordHealthOf(app, { team_id, webhook_id }, runsOfWebhook)
}

const isHealthy = ({ endpoint, outcomes }: LaneOutcomes) =>
  outcomes.every(({ ok }) => ok) && endpoint.failures === 0 && endpoint.first_failure_at === null

/** Several workers may report on one webhook, so each locks its row first. */
const recordHealthOf = (app: App, { team_id, webhook_id }: WebhookKey, runs: LaneOutcomes[]) =>
  inTransaction(app, async (app) => {
    const row = await store.lockHealth(app.db, team_id, webhook_id)
    if (!row || row.disabled_at) return
    const at = app.wall()
    let breaker = { failures: row.failures, trips: row.trips, open_until: row.paused_until, probing: false }
    let health: rules.Health = row
    let because: string | null = null
    for (const { endpoint, outcomes } of runs) {
      // A delivery claimed after the pause began is the probe that ends it.
      const probing = endpoint.paused_until !== null && endpoint.paused_until === breaker.open_until
      for (const outcome of outcomes) {
        breaker = rules.breakerAfter({ ...breaker, probing }, outcome, at)
        health = rules.healthAfter(health, outcome, at)
        if (isGone(outcome)) because = 'gone'
        else if (rules.shouldDisable(health, outcome, at)) because ??= 'failing'
      }
    }
    const { first_failure_at, last_failure_at, clock_started_at } = health
    const { failures, trips, open_until: paused_until } = breaker
    const change = { failures, trips, paused_until, first_failure_at, last_failure_at, clock_started_at }
    await store.updateWebhook(app.db, team_id, webhook_id, {
      ...change,
      ...(because ? { disabled_at: at, disabled_because: because } : {}),
    })
    if (because) await emitDisabled(app, team_id, webhook_id, because)
  })

/** Nothing is sent until the webhook is enabled again. Pending messages are kept. */
const emitDisabled = (app: AppInTransaction, team_id: string, webhook_id: string, because: string) =>
  emitForTeam(app, {
    team_id,
    event_type: 'endpoint.disabled',
    key: `webhook:${webhook_id}`,
    data: { webhook_id, because },
    at: app.wall(),
  })
