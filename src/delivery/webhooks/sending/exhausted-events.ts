import { deliveryEvents } from '../../../contract/delivery/delivery-events.ts'
import type { AppInTransaction } from '../../../platform/app.ts'
import { emitForTeam } from '../../events/emit.ts'
import type { NewAttempt } from './store-lanes.ts'

/** Emits an event for each exhausted message. An exhausted operator event emits none, because that could repeat forever. */
export async function emitExhausted(app: AppInTransaction, attempts: NewAttempt[]) {
  for (const { outcome, event_type, event_id, team_id, webhook_id, attempt, status, error } of attempts) {
    if (outcome !== 'exhausted' || event_type in deliveryEvents) continue
    const data = { webhook_id, event_id, event_type, attempts: attempt, status, error }
    await emitForTeam(app, { team_id, event_type: 'message.attempt.exhausted', key: `webhook:${webhook_id}`, data, at: app.wall() })
  }
}
