import { numberEvents } from '../delivery/events/log.ts'
import { pruneInboxes } from '../delivery/webhooks/inbox.ts'
import { deleteIdleLanes, PURGE, purgeWebhooks } from '../delivery/webhooks/management/purge.ts'
import { REPAIR } from '../delivery/webhooks/repair/jobs.ts'
import { repairWebhooks } from '../delivery/webhooks/repair/repair.ts'
import { applyRetention, sweepLanes } from '../delivery/webhooks/repair/retention.ts'
import { STEP, takeDueSteps } from '../labs/adapters/simulator/advance.ts'
import { DISPATCH, dispatchDue } from '../labs/orders/progress/dispatch.ts'
import { eraseDueUsers } from '../operations/user-deletion/actions.ts'
import { type App, NUMBER } from '../platform/app.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../platform/time.ts'
import { chainAudit } from '../tenants/audit/actions.ts'
import { pruneIdempotency } from '../tenants/idempotency/actions.ts'
import { pruneTokens } from '../tenants/keys/actions.ts'
import { flushLastUses } from '../tenants/keys/last-use.ts'
import { pruneUserTokens } from '../tenants/keys/user-tokens.ts'
import { pruneInvitations } from '../tenants/people/invitations.ts'
import { pruneSessions } from '../tenants/sessions/actions.ts'
import { eraseNextTeam } from '../tenants/teams/actions.ts'
import { pauseAfterIngestion } from '../wearables/connections/actions.ts'
import { BULK, pruneBulk, runBulk } from '../wearables/connections/bulk/bulk.ts'
import { deregister } from '../wearables/connections/deregister.ts'
import { pullDue } from '../wearables/connections/pulls.ts'
import { pruneLinks } from '../wearables/link/tokens.ts'

export type Job = {
  name: string
  everyMs: number
  /** Does one batch of due work. Returns true if there may be more. */
  run(app: App): Promise<unknown>
  /** Runs in every process that serves requests, because it flushes that process's memory. */
  everywhere?: true
}

export const jobs: Job[] = [
  { name: DISPATCH, everyMs: SECOND / 2, run: (app) => dispatchDue(app) },
  { name: NUMBER, everyMs: SECOND / 10, run: numberEvents },
  { name: STEP, everyMs: SECOND, run: (app) => takeDueSteps(app) },
  { name: 'erase users', everyMs: 5 * SECOND, run: (app) => eraseDueUsers(app) },
  { name: 'end connections', everyMs: SECOND, run: deregister },
  { name: 'pause connections', everyMs: MINUTE, run: pauseAfterIngestion },
  { name: BULK, everyMs: SECOND, run: runBulk },
  { name: 'pull history', everyMs: SECOND, run: pullDue },
  { name: 'erase teams', everyMs: MINUTE, run: eraseNextTeam },
  { name: 'chain the audit log', everyMs: SECOND, run: chainAudit },
  { name: 'store last uses of keys', everyMs: 5 * SECOND, run: flushLastUses, everywhere: true },
  { name: 'maintain event partitions', everyMs: HOUR, run: applyRetention },
  { name: REPAIR, everyMs: SECOND / 2, run: repairWebhooks },
  { name: 'prune inboxes', everyMs: HOUR, run: pruneInboxes },
  { name: PURGE, everyMs: 10 * SECOND, run: purgeWebhooks },
  { name: 'end idle lanes', everyMs: DAY, run: deleteIdleLanes },
  { name: 'sweep lanes', everyMs: MINUTE, run: sweepLanes },
  { name: 'prune idempotency keys', everyMs: 10 * MINUTE, run: pruneIdempotency },
  { name: 'prune invitations', everyMs: HOUR, run: pruneInvitations },
  { name: 'prune console sessions', everyMs: 10 * MINUTE, run: pruneSessions },
  { name: 'prune access tokens', everyMs: HOUR, run: pruneTokens },
  { name: 'prune bulk operations', everyMs: HOUR, run: pruneBulk },
  { name: 'prune user tokens', everyMs: HOUR, run: pruneUserTokens },
  { name: 'prune link tokens', everyMs: 10 * MINUTE, run: pruneLinks },
]
