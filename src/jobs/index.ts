import { pruneDisclosures } from '../delivery/disclosures/actions.ts'
import { queueDueMessages, searchPlanned } from '../delivery/messages/outbox.ts'
import { searchDueMessages } from '../delivery/messages/send.ts'
import { pruneInboxes } from '../delivery/webhooks/inbox.ts'
import { RECOVER_MESSAGES } from '../delivery/webhooks/repair/jobs.ts'
import { recoverMessages, searchRecoveries } from '../delivery/webhooks/repair/recover.ts'
import { applyRetention } from '../delivery/webhooks/repair/retention.ts'
import { SIMULATE_STEPS, takeDueSteps } from '../labs/adapters/simulator/advance.ts'
import { changeDueVisits, searchDueVisits } from '../labs/appointments/due.ts'
import { sendMessages } from '../labs/communication/actions.ts'
import { fileLabMessages } from '../labs/filing/messages.ts'
import { pruneLabInbox } from '../labs/hl7/inbox/forget.ts'
import { pickUpLabFiles } from '../labs/hl7/inbox/pick-up.ts'
import { FILE_LAB_MESSAGES, searchReceived } from '../labs/hl7/inbox/process.ts'
import { SEND_LAB_MESSAGES, searchMessages, sendLabMessages } from '../labs/hl7/outbox/send.ts'
import { markOverdueKits, searchOverdue } from '../labs/kits/due.ts'
import { DISPATCH_ORDERS, dispatchDueOrders, searchDispatches, searchSteps } from '../labs/orders/progress/dispatch.ts'
import { PARSE_REPORTS, parseDueReports, searchParsing } from '../labs/report-parser/actions.ts'
import { escalateCriticals, searchEscalations } from '../labs/results/escalation.ts'
import { alertAuditBreaks } from '../operations/audit/alerts.ts'
import { checkpointAudit } from '../operations/audit/checkpoints.ts'
import { rotateEpochs } from '../operations/epochs/actions.ts'
import { continueRotations } from '../operations/rotation/data.ts'
import { eraseNextTeam } from '../operations/team-deletion/actions.ts'
import { eraseDueUsers } from '../operations/user-deletion/actions.ts'
import { eraseFromLogs, searchLogErasures } from '../operations/user-deletion/logs.ts'
import { analyzeYoungTables } from '../platform/db/statistics.ts'
import { HOUR, MINUTE, SECOND } from '../platform/time.ts'
import { searchUnalerted } from '../tenants/audit/breaks.ts'
import { linkAudit, searchUnlinked } from '../tenants/audit/chain.ts'
import { reviewAudit } from '../tenants/audit/review/actions.ts'
import { pruneIdempotency } from '../tenants/idempotency/actions.ts'
import { pruneInvitations } from '../tenants/people/invitations.ts'
import { pruneSessions } from '../tenants/people/sessions/actions.ts'
import { pruneAccessTokens } from '../tenants/tokens/access-tokens.ts'
import { pruneUserTokens } from '../tenants/tokens/user-tokens.ts'
import { searchErasable } from '../tenants/users/actions.ts'
import { pruneBulk, RUN_BULK_OPERATIONS, runBulk, searchOpenOperations } from '../wearables/bulk/actions.ts'
import { deregister, searchDeregistrations } from '../wearables/connections/deregister.ts'
import { searchPulls } from '../wearables/connections/due-pulls.ts'
import { pauseAfterIngestion } from '../wearables/connections/pause.ts'
import { searchSubscriptions, subscribeDue } from '../wearables/ingestion/applications/subscribe.ts'
import { pullDueFeeds, searchJobs } from '../wearables/ingestion/lanes.ts'
import { PULL_FEEDS } from '../wearables/ingestion/schedule.ts'
import { pruneLinks } from '../wearables/link/tokens.ts'
import { pullDue } from '../wearables/pulls/actions.ts'
import type { Job } from './job.ts'
import { ownMemoryJobs } from './own-memory.ts'

/** The work of a process that delivers. */
export const jobs: Job[] = [
  { name: DISPATCH_ORDERS, search: searchDispatches, run: (app) => dispatchDueOrders(app) },
  { name: SEND_LAB_MESSAGES, search: searchMessages, run: sendLabMessages },
  { name: 'pick up lab files', everyMs: SECOND, run: pickUpLabFiles },
  { name: FILE_LAB_MESSAGES, search: searchReceived, run: fileLabMessages },
  { name: SIMULATE_STEPS, search: searchSteps, run: (app) => takeDueSteps(app) },
  { name: 'change appointments', search: searchDueVisits, run: (app) => changeDueVisits(app) },
  { name: 'mark overdue kits', search: searchOverdue, run: (app) => markOverdueKits(app) },
  { name: 'escalate critical results', search: searchEscalations, run: escalateCriticals },
  { name: PARSE_REPORTS, search: searchParsing, run: parseDueReports },
  { name: 'queue planned messages', search: searchPlanned, run: (app) => queueDueMessages(app) },
  { name: 'send messages', search: searchDueMessages, run: sendMessages },
  { name: 'erase users', search: searchErasable, run: (app) => eraseDueUsers(app) },
  { name: 'deregister connections', search: searchDeregistrations, run: deregister },
  { name: 'pause connections', everyMs: MINUTE, run: pauseAfterIngestion },
  { name: RUN_BULK_OPERATIONS, search: searchOpenOperations, run: runBulk },
  { name: 'pull wearable data', search: searchPulls, run: pullDue },
  { name: PULL_FEEDS, search: searchJobs, run: pullDueFeeds },
  { name: 'subscribe to clouds', search: searchSubscriptions, run: subscribeDue },
  { name: 'erase teams', everyMs: MINUTE, run: eraseNextTeam },
  { name: 'erase from logs', search: searchLogErasures, run: eraseFromLogs },
  { name: 'link audit rows', search: searchUnlinked, run: linkAudit },
  { name: 'review audit chains', everyMs: MINUTE, run: reviewAudit },
  { name: 'alert audit breaks', search: searchUnalerted, run: alertAuditBreaks },
  { name: 'write audit checkpoint', everyMs: HOUR, run: checkpointAudit },
  ...ownMemoryJobs,
  { name: 'analyze young tables', everyMs: 5 * SECOND, run: analyzeYoungTables },
  { name: 'maintain event partitions', everyMs: HOUR, run: applyRetention },
  { name: RECOVER_MESSAGES, search: searchRecoveries, run: recoverMessages },
  { name: 'prune disclosures', everyMs: HOUR, run: pruneDisclosures },
  { name: 'prune inboxes', everyMs: HOUR, run: pruneInboxes },
  { name: 'prune lab inbox', everyMs: HOUR, run: pruneLabInbox },
  { name: 'prune idempotency keys', everyMs: 10 * MINUTE, run: pruneIdempotency },
  { name: 'rotate data keys', everyMs: MINUTE, run: continueRotations },
  { name: 'rotate epochs', everyMs: MINUTE, run: rotateEpochs },
  { name: 'prune invitations', everyMs: HOUR, run: pruneInvitations },
  { name: 'prune console sessions', everyMs: 10 * MINUTE, run: pruneSessions },
  { name: 'prune access tokens', everyMs: HOUR, run: pruneAccessTokens },
  { name: 'prune bulk operations', everyMs: HOUR, run: pruneBulk },
  { name: 'prune user tokens', everyMs: HOUR, run: pruneUserTokens },
  { name: 'prune link tokens', everyMs: 10 * MINUTE, run: pruneLinks },
]
