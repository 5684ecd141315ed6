import { type App, DAY, HOUR, MINUTE, NUMBER, SECOND } from '../app.ts'
import { chainAudit } from '../audit/actions.ts'
import { pauseLate } from '../connections/actions.ts'
import { BULK, pruneBulk, runBulk } from '../connections/bulk.ts'
import { sayFarewell } from '../connections/farewell.ts'
import { pullDue } from '../connections/pulls.ts'
import { numberEvents } from '../events/log.ts'
import { pruneIdempotency } from '../idempotency/actions.ts'
import { pruneTokens } from '../keys/actions.ts'
import { flushLastUses } from '../keys/last-use.ts'
import { pruneUserTokens } from '../keys/user-tokens.ts'
import { STEP, takeDueSteps } from '../labs/simulator/walk.ts'
import { pruneLinks } from '../link/tokens.ts'
import { DISPATCH, dispatchDue } from '../orders/dispatch.ts'
import { pruneInvitations } from '../people/invitations.ts'
import { pruneSessions } from '../sessions/actions.ts'
import { eraseNextTeam } from '../teams/actions.ts'
import { eraseDueUsers } from '../users/actions.ts'
import { endIdleLanes, PURGE, purgeWebhooks } from '../webhooks/ends.ts'
import { pruneInboxes } from '../webhooks/inbox.ts'
import { REPAIR } from '../webhooks/jobs.ts'
import { repairWebhooks } from '../webhooks/repair.ts'
import { keepDays, sweepLanes } from '../webhooks/retention.ts'

export type Job = {
  name: string
  everyMs: number
  /** Does a piece of due work; `true` means that there may be more. */
  run(app: App): Promise<unknown>
  /** Runs wherever requests are answered, because it empties the memory of that process. */
  everywhere?: true
}

export const jobs: Job[] = [
  { name: DISPATCH, everyMs: SECOND / 2, run: (app) => dispatchDue(app) },
  { name: NUMBER, everyMs: SECOND / 10, run: numberEvents },
  { name: STEP, everyMs: SECOND, run: (app) => takeDueSteps(app) },
  { name: 'erase users', everyMs: 5 * SECOND, run: (app) => eraseDueUsers(app) },
  { name: 'end connections', everyMs: SECOND, run: sayFarewell },
  { name: 'pause connections', everyMs: MINUTE, run: pauseLate },
  { name: BULK, everyMs: SECOND, run: runBulk },
  { name: 'pull history', everyMs: SECOND, run: pullDue },
  { name: 'erase teams', everyMs: MINUTE, run: eraseNextTeam },
  { name: 'chain the audit log', everyMs: SECOND, run: chainAudit },
  { name: 'record last uses of keys', everyMs: 5 * SECOND, run: flushLastUses, everywhere: true },
  { name: 'make and drop days of events', everyMs: HOUR, run: keepDays },
  { name: REPAIR, everyMs: SECOND / 2, run: repairWebhooks },
  { name: 'prune inboxes', everyMs: HOUR, run: pruneInboxes },
  { name: PURGE, everyMs: 10 * SECOND, run: purgeWebhooks },
  { name: 'end idle lanes', everyMs: DAY, run: endIdleLanes },
  { name: 'sweep lanes', everyMs: MINUTE, run: sweepLanes },
  { name: 'prune idempotency keys', everyMs: 10 * MINUTE, run: pruneIdempotency },
  { name: 'prune invitations', everyMs: HOUR, run: pruneInvitations },
  { name: 'prune console sessions', everyMs: 10 * MINUTE, run: pruneSessions },
  { name: 'prune access tokens', everyMs: HOUR, run: pruneTokens },
  { name: 'prune bulk operations', everyMs: HOUR, run: pruneBulk },
  { name: 'prune user tokens', everyMs: HOUR, run: pruneUserTokens },
  { name: 'prune link tokens', everyMs: 10 * MINUTE, run: pruneLinks },
]
