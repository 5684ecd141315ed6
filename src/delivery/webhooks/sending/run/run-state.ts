import type { FilterVersion } from '../../../../contract/delivery/log-rows.ts'
import type { FormatVersion } from '../../../formats/rules.ts'
import { type Breaker, closedBreaker } from '../../rules-health.ts'
import { noChanges } from '../changes.ts'
import type { SendingContext } from '../context.ts'
import type { Replay } from '../replay.ts'
import { followPositions, type Place } from '../rules-positions.ts'
import type { CursorRow, WebhookState } from '../store-cursors.ts'
import { newQueues } from './queues.ts'
import { newWindow } from './window.ts'

export type RunState = ReturnType<typeof newRunState>

/** What the reading and the sending of a webhook share. */
export function newRunState(context: SendingContext, team_id: string, row: CursorRow) {
  const { app } = context
  const positions = followPositions(row)
  return {
    team_id,
    webhook_id: row.webhook_id,
    state: undefined as WebhookState | undefined,
    versions: [] as FilterVersion[],
    formats: [] as FormatVersion[],
    breaker: closedBreaker as Breaker,
    replays: [] as Replay[],
    /** The message at which a webhook with strict order waits, and whether it is held back. */
    waiting: { attempts: row.attempts, retryAt: row.retry_at, isHeld: false },
    stopWaiting() {
      this.waiting = { attempts: 0, retryAt: null, isHeld: false }
    },
    changes: noChanges(),
    recordedNo: row.after_no,
    isClosed: false,
    positions,
    queues: newQueues(),
    window: newWindow(context, team_id),
    isPaused() {
      const { state, breaker } = this
      return !state || state.disabled_at !== null || (breaker.paused_until !== null && breaker.paused_until > app.wall())
    },
    /** Whether everything else waits for the message that failed. After a change of ordering, some of it does not. */
    isWaiting() {
      const { waiting, versions } = this
      if (waiting.retryAt === null || waiting.retryAt <= app.wall()) return false
      return versions.every(({ ordering, upto_no }) => ordering === 'strict' || (upto_no !== null && upto_no <= positions.read().no))
    },
    isFirst: (place: Place) => positions.firstUndecided() === place,
  }
}
