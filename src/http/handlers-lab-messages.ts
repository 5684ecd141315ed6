import type { labMessageEndpoints } from '../contract/labs/lab-messages.ts'
import type { unmatchedConsoleEndpoints } from '../contract/labs/unmatched-console.ts'
import { dismissFailedLabMessage, listFailedLabMessages, processFailedLabMessage } from '../labs/hl7/inbox/failed.ts'
import * as monitor from '../labs/hl7/monitor/actions.ts'
import { compareUnmatchedResult, unmatchedDocument } from '../labs/unmatched/compare.ts'
import * as operatorQueue from '../labs/unmatched/operator-queue.ts'
import type { HandlersOf } from './handler.ts'

/** Maps the endpoints of the lab pages of the console to their actions. */
export const labMessageHandlers: HandlersOf<typeof labMessageEndpoints & typeof unmatchedConsoleEndpoints> = {
  listLabConnections: (app, caller) => monitor.listLabConnections(app, caller),
  listLabMessages: (app, caller, { query }) => monitor.listLabMessages(app, caller, query),
  getLabMessage: (app, caller, { params }) => monitor.getLabMessage(app, caller, params.message_id),
  resendLabMessage: (app, caller, { params }) => monitor.resendLabMessage(app, caller, params.message_id),
  listOperatedLabConnections: (app) => monitor.listOperatedLabConnections(app),
  listOperatedLabMessages: (app, _, { query }) => monitor.listOperatedLabMessages(app, query),
  resendOperatedLabMessage: (app, _, { params }) => monitor.resendOperatedLabMessage(app, params.message_id),
  listFailedLabMessages: (app, _, { query }) => listFailedLabMessages(app, query),
  processFailedLabMessage: (app, _, { body }) => processFailedLabMessage(app, body),
  dismissFailedLabMessage: (app, _, { body }) => dismissFailedLabMessage(app, body),

  compareUnmatchedResult: (app, caller, { params }) => compareUnmatchedResult(app, caller, params.raw_result_id),
  getUnmatchedDocument: (app, caller, { params }) => unmatchedDocument(app, caller, params),
  listUnassignedResults: (app, _, { query }) => operatorQueue.describeUnassignedResults(app, query),
  assignUnassignedResult: (app, _, { params, body }) =>
    operatorQueue.assignUnassignedResult(app, params.unassigned_result_id, body.team_id),
}
