import { deliveryEvents } from '../../../contract/delivery/delivery-events.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import { emitForTeam } from '../../events/emit.ts'
import { isGone } from '../rules.ts'
import * as rules from '../rules-health.ts'
import { lockHealth, updateWebhook } from '../store.ts'
import type { HealthOutcome } from './changes.ts'
import * as store from './store-cursors.ts'

export type Change = store.CursorChange & { outcomes: HealthOutcome[]; state: store.WebhookState }

/**
 * Records changes of cursors of a team, with the health of their webhooks and the events about both. Returns the webhooks whose health
 * has changed. Undefined if another worker has taken over a cursor or changed it, so that nothing was recorded.
 */
export async function recordChanges(app: App, team_id: string, changes: Change[]) {
  const unhealthy = changes.filter((change) => !isHealthy(change))
  const isPlain = unhealthy.length === 0 && changes.every(({ attempts }) => attempts.every(({ outcome }) => outcome !== 'exhausted'))
  if (isPlain) return isRecorded(changes, await store.recordOutcomes(app.db, team_id, changes)) ? [] : undefined
  let conflicts: Awaited<ReturnType<typeof store.recordOutcomes>> = []
  return inTransaction(app, async (app) => {
    const recorded: RecordedHealth[] = []
    for (const change of unhealthy.toSorted((a, b) => (a.cursor.webhook_id < b.cursor.webhook_id ? -1 : 1))) {
      const health = await recordHealth(app, team_id, change)
      if (health) recorded.push(health)
    }
    conflicts = await store.recordOutcomes(app.db, team_id, changes)
    if (conflicts.length) throw conflict
    for (const { state, because } of recorded) if (because) await emitDisabled(app, team_id, state.id, because)
    await emitExhausted(
      app,
      changes.flatMap(({ attempts }) => attempts),
    )
    return recorded.map(({ state }) => state)
  }).catch((error: unknown) => {
    if (error !== conflict) throw error
    return isRecorded(changes, conflicts) ? presentStates(app, team_id, unhealthy) : undefined
  })
}

/** Rolls back what was written before a conflict was found. */
const conflict = new Error('Another worker has changed a cursor, or the outcomes are recorded.')

async function presentStates({ db }: App, team_id: string, changes: Change[]) {
  const states = await store.listWebhooks(db, team_id)
  return states.filter(({ id }) => changes.some(({ cursor }) => cursor.webhook_id === id))
}

/** A repeated record finds the cursors as the first one left them. */
const isRecorded = (changes: Change[], conflicts: { webhook_id: string; term: number; flush: number }[]) =>
  conflicts.every(({ webhook_id, term, flush }) =>
    changes.some(({ cursor }) => cursor.webhook_id === webhook_id && cursor.term === term && cursor.flush + 1 === flush),
  )

const isHealthy = ({ state, outcomes }: Change) =>
  outcomes.every(({ outcome }) => outcome.ok) &&
  (outcomes.length === 0 || (state.failures === 0 && state.first_failure_at === null && !state.paused_until))

type RecordedHealth = { state: store.WebhookState; because: string | null }

/** Written only when a webhook fails or recovers, so that a healthy webhook's row never is. */
async function recordHealth(app: AppInTransaction, team_id: string, { cursor, outcomes }: Change) {
  const row = await lockHealth(app.db, team_id, cursor.webhook_id)
  if (!row || row.disabled_at) return undefined
  let breaker: rules.Breaker = row
  let health: rules.Health = row
  let because: string | null = null
  for (const { outcome, probed, at } of outcomes) {
    breaker = rules.breakerAfter(breaker, { outcome, probed }, at)
    health = rules.healthAfter(health, outcome, at)
    if (isGone(outcome)) because = 'gone'
    else if (rules.shouldDisable(health, outcome, at)) because ??= 'failing'
  }
  const { first_failure_at, last_failure_at, clock_started_at } = health
  const { failures, trips, paused_until } = breaker
  const state = await updateWebhook(app.db, team_id, cursor.webhook_id, {
    ...{ failures, trips, paused_until, first_failure_at, last_failure_at, clock_started_at },
    ...(because ? { disabled_at: app.wall(), disabled_because: because } : {}),
  })
  return { state, because }
}

/** Nothing is sent until the webhook is enabled again. Pending messages are kept. */
const emitDisabled = (app: AppInTransaction, team_id: string, webhook_id: string, because: string) =>
  emitForTeam(app, {
    team_id,
    event_type: 'endpoint.disabled',
    key: `webhook:${webhook_id}`,
    data: { webhook_id, because },
    at: app.wall(),
  })

/** Emits an event for each exhausted message. An exhausted operator event emits none, because that could repeat forever. */
async function emitExhausted(app: AppInTransaction, attempts: store.NewAttempt[]) {
  for (const { outcome, event_type, event_id, team_id, webhook_id, attempt, status, error } of attempts) {
    if (outcome !== 'exhausted' || event_type in deliveryEvents) continue
    const data = { webhook_id, event_id, event_type, attempts: attempt, status, error }
    await emitForTeam(app, { team_id, event_type: 'message.attempt.exhausted', key: `webhook:${webhook_id}`, data, at: app.wall() })
  }
}
