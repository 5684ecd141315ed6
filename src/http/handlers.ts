import type { Endpoints } from '../contract/index.ts'
import { listDisclosures } from '../delivery/disclosures/actions.ts'
import * as eventTypes from '../delivery/events/catalog.ts'
import { listEvents } from '../delivery/events/log.ts'
import { streamEvents } from '../delivery/events/stream.ts'
import { createUser } from '../delivery/events/user-events.ts'
import { listMessages } from '../delivery/messages/log.ts'
import * as pipelines from '../delivery/pipelines/actions.ts'
import { fetchEvent } from '../delivery/tickets/fetch.ts'
import * as inbox from '../delivery/webhooks/inbox.ts'
import * as webhooks from '../delivery/webhooks/management/actions.ts'
import { sendWebhookExample } from '../delivery/webhooks/management/example.ts'
import { getWebhookHeaders, putWebhookHeaders } from '../delivery/webhooks/management/headers.ts'
import * as webhookKeys from '../delivery/webhooks/management/keys.ts'
import * as attempts from '../delivery/webhooks/repair/attempts.ts'
import * as repairs from '../delivery/webhooks/repair/jobs.ts'
import * as messages from '../delivery/webhooks/repair/messages.ts'
import * as partnerApi from '../labs/adapters/partner-api/actions.ts'
import { simulateOrder } from '../labs/adapters/simulator/advance.ts'
import * as appointments from '../labs/appointments/actions.ts'
import * as availability from '../labs/appointments/availability.ts'
import { listDayVisits } from '../labs/appointments/day.ts'
import { listCancellationReasons } from '../labs/appointments/reasons.ts'
import { requestVisit } from '../labs/appointments/requests.ts'
import * as labAccounts from '../labs/catalog/accounts/actions.ts'
import * as catalog from '../labs/catalog/actions.ts'
import * as markers from '../labs/catalog/markers.ts'
import * as communication from '../labs/communication/actions.ts'
import * as compendium from '../labs/compendium/actions.ts'
import * as coverage from '../labs/coverage/actions.ts'
import * as shipments from '../labs/kits/actions.ts'
import { listOverdueKits } from '../labs/kits/due.ts'
import { reportShipment } from '../labs/kits/report.ts'
import { importOrder } from '../labs/orders/placing/import.ts'
import { placeOrder } from '../labs/orders/placing/place.ts'
import { validateOrder } from '../labs/orders/placing/preflight.ts'
import * as kits from '../labs/orders/placing/test-kits.ts'
import * as orders from '../labs/orders/progress/actions.ts'
import { getOrderPscInfo } from '../labs/orders/reading/collection-sites.ts'
import { getOrder, listOrders } from '../labs/orders/reading/list.ts'
import * as orderPdfs from '../labs/orders/reading/order-pdfs.ts'
import * as physicians from '../labs/physicians/actions.ts'
import * as parser from '../labs/report-parser/actions.ts'
import * as results from '../labs/results/actions.ts'
import * as critical from '../labs/results/critical.ts'
import * as reports from '../labs/results/pdf.ts'
import * as schedule from '../labs/schedule/actions.ts'
import { acceptUnmatchedResult } from '../labs/unmatched/accept.ts'
import * as reviews from '../labs/unmatched/reviews.ts'
import * as unmatchedTests from '../labs/unmatched/sandbox-tests.ts'
import { getOverview } from '../operations/overview/actions.ts'
import * as sandbox from '../operations/sandbox/actions.ts'
import { patchTeam } from '../operations/team-settings/actions.ts'
import { deleteUser, undoDeleteUser } from '../operations/user-deletion/actions.ts'
import { getErasure } from '../operations/user-deletion/certificate.ts'
import { findPeople, getMetrics, getUser, listUsers, resolveUser, searchUsers } from '../operations/users/actions.ts'
import * as insurance from '../tenants/insurance/actions.ts'
import * as keys from '../tenants/keys/actions.ts'
import * as keyRotation from '../tenants/keys/rotate.ts'
import { acknowledgeAuditBreak, listAudit, verifyAuditLog } from '../tenants/org-audit/actions.ts'
import { acceptInvitation, completeInvitation } from '../tenants/people/accept.ts'
import * as account from '../tenants/people/account.ts'
import * as people from '../tenants/people/actions.ts'
import * as invitations from '../tenants/people/invitations.ts'
import * as sessions from '../tenants/people/sessions/actions.ts'
import * as teams from '../tenants/teams/actions.ts'
import * as orgs from '../tenants/teams/orgs.ts'
import { createAccessToken } from '../tenants/tokens/access-tokens.ts'
import * as users from '../tenants/users/actions.ts'
import * as records from '../tenants/users/records.ts'
import type { HandlersOf } from './handler.ts'
import { labMessageHandlers } from './handlers-lab-messages.ts'
import { wearableHandlers } from './handlers-wearables.ts'

/** Maps each endpoint to its action, with no logic in between. */
export const handlers: HandlersOf<Endpoints> = {
  createUser: (app, caller, { body }) => createUser(app, caller, body),
  listUsers: (app, caller, { query }) => listUsers(app, caller, query),
  getMetrics: (app, caller) => getMetrics(app, caller),
  resolveUser: (app, caller, { params }) => resolveUser(app, caller, params.client_user_id),
  searchUsers: (app, caller, { query }) => searchUsers(app, caller, query.query_id),
  findPeople: (app, caller, { body }) => findPeople(app, caller, body.query),
  undoDeleteUser: (app, caller, { query }) => undoDeleteUser(app, caller, query),
  getUser: (app, caller, { params }) => getUser(app, caller, params.user_id),
  patchUser: (app, caller, { params, body }) => users.patchUser(app, caller, params.user_id, body),
  deleteUser: (app, caller, { params }) => deleteUser(app, caller, params.user_id),
  getErasure: (app, caller, { params }) => getErasure(app, caller, params.user_id),
  putUserInfo: (app, caller, { params, body }) => records.putUserInfo(app, caller, params.user_id, body),
  getUserInfo: (app, caller, { params }) => records.getUserInfo(app, caller, params.user_id),
  createInsurance: (app, caller, { params, body }) => records.createInsurance(app, caller, params.user_id, body),
  getInsurance: (app, caller, { params, query }) => records.getInsurance(app, caller, params.user_id, query.is_primary),

  listLabTests: (app, caller, { query }) => catalog.listLabTests(app, caller, query),
  listAllLabTests: (app, caller, { query }) => catalog.listAllLabTests(app, caller, query),
  createLabTest: (app, caller, { body }) => catalog.createLabTest(app, caller, body),
  listMarkers: (app, caller, { query }) => markers.listMarkers(app, caller, query),
  listOrderSetMarkers: (app, caller, { query, body }) => markers.listOrderSetMarkers(app, caller, body, query),
  listLabs: (app) => markers.listLabs(app),
  listLabAccounts: (app, caller, { query }) => markers.listLabAccounts(app, caller, query),
  getLabTest: (app, caller, { params, query }) => catalog.getLabTest(app, caller, params.lab_test_id, query.lab_account_id),
  patchLabTest: (app, caller, { params, body }) => catalog.patchLabTest(app, caller, params.lab_test_id, body),
  listLabTestMarkers: (app, caller, { params, query }) => markers.listLabTestMarkers(app, caller, params.lab_test_id, query),
  getMarker: (app, caller, { params, query }) => markers.getMarker(app, caller, params.lab_id, params.provider_id, query.lab_account_id),
  searchPayors: (app, caller, { query }) => insurance.searchPayors(app, caller, query),
  searchPayorsByBody: (app, caller, { body }) => insurance.searchPayorsByBody(app, caller, body),
  createPayor: (app, caller, { body }) => insurance.createPayor(app, caller, body),
  searchDiagnoses: (app, _, { query }) => insurance.searchDiagnoses(app, query.diagnosis_query),
  validateIcdCodes: (_, __, { body }) => insurance.validateIcdCodes(body.codes),

  createOrder: (app, caller, { body }) => placeOrder(app, caller, body),
  validateOrder: (app, caller, { body }) => validateOrder(app, caller, body),
  importOrder: (app, caller, { body }) => importOrder(app, caller, body),
  createTestkitOrder: (app, caller, { body }) => kits.createTestkitOrder(app, caller, body),
  registerTestkit: (app, caller, { body }) => kits.registerTestkit(app, caller, body),
  resendOrderEvents: (app, caller, { body }) => orders.resendOrderEvents(app, caller, body),
  listOrders: (app, caller, { query }) => listOrders(app, caller, query),
  getOrder: (app, caller, { params }) => getOrder(app, caller, params.order_id),
  rescheduleOrder: (app, caller, { params, body }) => orders.rescheduleOrder(app, caller, params.order_id, body.activate_by),
  cancelOrder: (app, caller, { params }) => orders.cancelOrder(app, caller, params.order_id),
  completeDraw: (app, caller, { params }) => orders.completeDraw(app, caller, params.order_id),
  simulateOrder: (app, caller, { params, query, body }) => simulateOrder(app, caller, params.order_id, query, body),
  getOrderTransaction: (app, caller, { params }) => orders.getOrderTransaction(app, caller, params.transaction_id),
  getAreaInfo: (app, caller, { query }) => coverage.getAreaInfo(app, caller, query),
  getPscInfo: (app, caller, { query }) => coverage.getPscInfo(app, caller, query),
  getOrderPscInfo: (app, caller, { params, query }) => getOrderPscInfo(app, caller, params.order_id, query),
  listHomeSlots: (app, caller, { body, query }) => availability.listHomeSlots(app, caller, body, query),
  bookHomeVisit: (app, caller, { params, body }) => appointments.bookVisit(app, caller, 'phlebotomy', params.order_id, body),
  requestHomeVisit: (app, caller, { params, body }) => requestVisit(app, caller, params.order_id, body),
  rescheduleHomeVisit: (app, caller, { params, body }) => appointments.moveVisit(app, caller, 'phlebotomy', params.order_id, body),
  cancelHomeVisit: (app, caller, { params, body }) =>
    appointments.cancelVisit(app, caller, 'phlebotomy', params.order_id, { reason_id: body.cancellation_reason_id, notes: body.notes }),
  listHomeCancellationReasons: async () => listCancellationReasons('phlebotomy'),
  getHomeVisit: (app, caller, { params }) => appointments.getVisit(app, caller, 'phlebotomy', params.order_id),
  listCenterSlots: (app, caller, { query }) => availability.listCenterSlots(app, caller, query),
  bookCenterVisit: (app, caller, { params, body }) => appointments.bookVisit(app, caller, 'patient_service_center', params.order_id, body),
  rescheduleCenterVisit: (app, caller, { params, body }) =>
    appointments.moveVisit(app, caller, 'patient_service_center', params.order_id, body),
  cancelCenterVisit: (app, caller, { params, body }) =>
    appointments.cancelVisit(app, caller, 'patient_service_center', params.order_id, {
      reason_id: body.cancellationReasonId,
      notes: body.note,
    }),
  listCenterCancellationReasons: async () => listCancellationReasons('patient_service_center'),
  getCenterVisit: (app, caller, { params }) => appointments.getVisit(app, caller, 'patient_service_center', params.order_id),
  reportVisit: (app, caller, { params, body }) => appointments.reportVisit(app, caller, params.order_id, body.status),
  listDayVisits: (app, caller, { params, query }) => listDayVisits(app, caller, params.calendar_code, query.date),
  listOrderSlots: (app, caller, { params, query }) => availability.listOrderSlots(app, caller, params.order_id, query),
  getSchedule: (app, caller) => schedule.getSchedule(app, caller),
  putSchedule: (app, caller, { body }) => schedule.putSchedule(app, caller, body.calendars),
  listCouriers: (app, caller) => shipments.listCouriers(app, caller),
  putCourier: (app, caller, { params, body }) => shipments.putCourier(app, caller, params.courier, body),
  deleteCourier: (app, caller, { params }) => shipments.deleteCourier(app, caller, params.courier),
  getKitLimits: (app, caller) => shipments.getKitLimits(app, caller),
  putKitLimits: (app, caller, { body }) => shipments.putKitLimits(app, caller, body),
  listOverdueKits: (app, caller, { query }) => listOverdueKits(app, caller, query),
  putShipment: (app, caller, { params, body }) => shipments.putShipment(app, caller, params.order_id, body),
  reportShipment: (app, caller, { params, body }) => reportShipment(app, caller, params.order_id, body.status),
  getCommunicationSettings: (app, caller, { params }) => communication.getCommunicationSettings(app, caller, params.order_id),
  patchCommunicationSettings: (app, caller, { params, body }) =>
    communication.patchCommunicationSettings(app, caller, params.order_id, body),
  createParsingJob: (app, caller, { body }) => parser.createParsingJob(app, caller, body),
  getParsingJob: (app, caller, { params }) => parser.getParsingJob(app, caller, params.parsing_job_id),
  previewMessages: (app, caller, { query }) => communication.previewMessages(app, caller, query.language),
  listMessages: (app, caller, { query }) => listMessages(app, caller, query),
  searchCompendium: (app, _, { body }) => compendium.searchCompendium(app, body),
  convertCompendium: (app, caller, { body }) => compendium.convertCompendium(app, caller, body),
  searchOrderableTests: (app, _, { body }) => compendium.searchOrderableTests(app, body),
  listPhysicians: (app, caller, { params }) => physicians.listPhysicians(app, caller, params.team_id),
  putPhysicians: (app, caller, { params, body }) => physicians.putPhysicians(app, caller, params.team_id, body.physicians),
  getResults: (app, caller, { params, query }) => results.getResults(app, caller, params.order_id, query.version),
  getResultsMetadata: (app, caller, { params }) => results.getResultsMetadata(app, caller, params.order_id),
  getResultsPdf: (app, caller, { params, query }) => reports.resultsPdf(app, caller, params.order_id, query),
  getCriticalResult: (app, caller, { params }) => critical.getCriticalResult(app, caller, params.order_id),
  acknowledgeCritical: (app, caller, { params, body }) => critical.acknowledgeCritical(app, caller, params.order_id, body ?? {}),
  listUnmatchedResults: (app, caller, { query }) => reviews.listUnmatchedResults(app, caller, query),
  getUnmatchedResult: (app, caller, { params }) => reviews.getUnmatchedResult(app, caller, params.raw_result_id),
  acceptUnmatchedResult: (app, caller, { params, body }) => acceptUnmatchedResult(app, caller, params.raw_result_id, body),
  resolveUnmatchedResult: (app, caller, { params, body }) => reviews.resolveUnmatchedResult(app, caller, params.raw_result_id, body),
  listUnmatchedResultTestCases: () => unmatchedTests.listUnmatchedResultTestCases(),
  createUnmatchedResultTest: (app, caller, { body }) => unmatchedTests.createUnmatchedResultTest(app, caller, body),
  getUnmatchedResultTest: (app, caller, { params }) => unmatchedTests.getUnmatchedResultTest(app, caller, params.run_id),
  getTransactionResults: (app, caller, { params }) => results.getTransactionResults(app, caller, params.transaction_id),
  getResultDocument: (app, caller, { params, query }) => reports.resultDocument(app, caller, params, query.version),
  getTransactionResultsPdf: (app, caller, { params }) => reports.transactionResultsPdf(app, caller, params.transaction_id),
  getRequisitionPdf: (app, caller, { params }) => orderPdfs.requisitionPdf(app, caller, params.order_id),
  getLabelsPdf: (app, caller, { params, query }) => orderPdfs.labelsPdf(app, caller, params.order_id, query),
  getCollectionInstructionPdf: (app, caller, { params }) => orderPdfs.orderInstructionsPdf(app, caller, params.order_id),
  getAbnPdf: (app, caller, { params }) => orderPdfs.abnPdf(app, caller, params.order_id),
  getLabTestInstructionPdf: (app, caller, { params }) => orderPdfs.labTestInstructionsPdf(app, caller, params.lab_test_id),

  getOrg: (app, caller) => orgs.getOrg(app, caller),
  patchOrg: (app, caller, { body }) => orgs.renameOrg(app, caller, body.name),
  listTeams: (app, caller, { query }) => teams.listTeams(app, caller, query),
  createTeam: (app, caller, { body }) => teams.createTeam(app, caller, body),
  resolveTeam: (app, caller, { body }) => teams.resolveTeam(app, caller, body.integration_team_id),
  getTeam: (app, caller, { params, query }) => teams.getTeam(app, caller, params.team_id, query.include_environment),
  patchTeam: (app, caller, { params, body }) => patchTeam(app, caller, params.team_id, body),
  deleteTeam: (app, caller, { params }) => teams.deleteTeam(app, caller, params.team_id),
  createAccessToken: (app, caller, { params, body }) => createAccessToken(app, caller, params.team_id, body.env),
  listManagementKeys: (app, caller, { query }) => keys.listManagementKeys(app, caller, query),
  createManagementKey: (app, caller, { body }) => keys.createManagementKey(app, caller, body),
  patchManagementKey: (app, caller, { params, body }) => keys.patchManagementKey(app, caller, params.key_id, body),
  deleteManagementKey: (app, caller, { params }) => keys.deleteManagementKey(app, caller, params.key_id),
  rotateManagementKey: (app, caller, { params, body }) =>
    keyRotation.rotateManagementKey(app, caller, params.key_id, body?.old_key_expires_at),
  listTeamKeys: (app, caller, { query }) => keys.listTeamKeys(app, caller, query),
  createTeamKey: (app, caller, { body }) => keys.createTeamKey(app, caller, body),
  rotateTeamKey: (app, caller, { params, body }) => keyRotation.rotateTeamKey(app, caller, params.api_key_id, body?.old_key_expires_at),
  patchTeamKey: (app, caller, { params, body }) => keys.patchTeamKey(app, caller, params.api_key_id, body),
  deleteTeamKeys: (app, caller, { query }) => keys.deleteTeamKeys(app, caller, query.api_key_id),

  listOrgLabAccounts: (app, caller, { query }) => labAccounts.listOrgLabAccounts(app, caller, query),
  patchLabAccount: (app, caller, { params, body }) => labAccounts.patchLabAccount(app, caller, params.account_id, body.team_id_allowlist),

  ...labMessageHandlers,

  getOwnLab: (app, caller) => markers.getOwnLab(app, caller),
  listLabOrders: (app, caller, { query }) => partnerApi.listLabOrders(app, caller, query),
  getLabOrder: (app, caller, { params }) => partnerApi.getLabOrder(app, caller, params.order_id),
  reportLabStep: (app, caller, { params, body }) => partnerApi.reportStep(app, caller, params.order_id, body),
  reportLabResults: (app, caller, { params, body }) => partnerApi.reportResults(app, caller, params.order_id, body),
  recreateLabOrder: (app, caller, { params }) => partnerApi.recreate(app, caller, params.order_id),

  listEventTypes: () => eventTypes.listEventTypes(),
  getEventType: (_, __, { params }) => eventTypes.getEventType(params.event_type),
  listEvents: (app, caller, { query }) => listEvents(app, caller, query),
  streamEvents: (app, caller, { query, headers }) => streamEvents(app, caller, { ...query, last_event_id: headers['last-event-id'] }),
  fetchEvent: (app, caller, { params }) => fetchEvent(app, caller, params.ticket),

  listWebhooks: (app, caller, { params, query }) => webhooks.listWebhooks(app, caller, params, query),
  createWebhook: (app, caller, { params, body }) => webhooks.createWebhook(app, caller, params, body),
  getWebhook: (app, caller, { params }) => webhooks.getWebhook(app, caller, params),
  patchWebhook: (app, caller, { params, body }) => webhooks.patchWebhook(app, caller, params, body),
  deleteWebhook: (app, caller, { params }) => webhooks.deleteWebhook(app, caller, params),
  getWebhookHeaders: (app, caller, { params }) => getWebhookHeaders(app, caller, params),
  putWebhookHeaders: (app, caller, { params, body }) => putWebhookHeaders(app, caller, params, body),
  getWebhookSecret: (app, caller, { params }) => webhookKeys.getWebhookSecret(app, caller, params),
  rotateWebhookSecret: (app, caller, { params, body }) => webhookKeys.rotateWebhookSecret(app, caller, params, body?.key),
  rotateWebhookKey: (app, caller, { params }) => webhookKeys.rotateWebhookKey(app, caller, params),
  getWebhookJwks: (app, _, { params }) => webhookKeys.getWebhookJwks(app, params.webhook_id),
  listWebhookAttempts: (app, caller, { params, query }) => attempts.listWebhookAttempts(app, caller, params, query),
  getWebhookAttempt: (app, caller, { params }) => attempts.getWebhookAttempt(app, caller, params),
  listWebhookMessages: (app, caller, { params, query }) => messages.listWebhookMessages(app, caller, params, query),
  retryWebhookMessage: (app, caller, { params }) => messages.retryWebhookMessage(app, caller, params),
  recoverWebhook: (app, caller, { params, body }) => repairs.recoverWebhook(app, caller, params, body),
  replayWebhook: (app, caller, { params, body }) => repairs.replayWebhook(app, caller, params, body),
  listWebhookJobs: (app, caller, { params, query }) => repairs.listWebhookJobs(app, caller, params, query),
  getWebhookJob: (app, caller, { params }) => repairs.getWebhookJob(app, caller, params),
  stopWebhookJob: (app, caller, { params }) => repairs.stopWebhookJob(app, caller, params),
  sendWebhookExample: (app, caller, { params, body }) => sendWebhookExample(app, caller, params, body.event_type),
  listDisclosures: (app, caller, { params, query }) => listDisclosures(app, caller, params, query),

  listPipelines: (app, caller, { query }) => pipelines.listPipelines(app, caller, query),
  upsertPipelines: (app, caller, { body }) => pipelines.upsertPipelines(app, caller, body),
  deletePipelines: (app, caller, { query }) => pipelines.deletePipelines(app, caller, query.team_id),
  beginSession: (app, _, { body }) => sessions.beginSession(app, body),
  getSession: (app, caller) => sessions.getSession(app, caller),
  endSession: (app, caller) => sessions.endSession(app, caller),

  getOverview: (app, caller) => getOverview(app, caller),
  listAudit: (app, caller, { query }) => listAudit(app, caller, query),
  verifyAuditLog: (app, caller) => verifyAuditLog(app, caller),
  acknowledgeAuditBreak: (app, caller, { body }) => acknowledgeAuditBreak(app, caller, body),

  listMembers: (app, caller, { query }) => people.listMembers(app, caller, query),
  patchMember: (app, caller, { params, body }) => people.patchMember(app, caller, params.person_id, body),
  deleteMember: (app, caller, { params }) => people.deleteMember(app, caller, params.person_id),
  listInvites: (app, caller, { query }) => invitations.listInvites(app, caller, query),
  createInvite: (app, caller, { body }) => invitations.createInvite(app, caller, body),
  deleteInvite: (app, caller, { params }) => invitations.deleteInvite(app, caller, params.invite_id),
  openInvitation: (app, _, { body }) => invitations.openInvitation(app, body.token),
  acceptInvitation: (app, _, { body }) => acceptInvitation(app, body),
  completeInvitation: (app, _, { body }) => completeInvitation(app, body),
  changePassword: (app, caller, { body }) => account.changePassword(app, caller, body),
  renewSecondFactor: (app, caller, { body }) => account.renewSecondFactor(app, caller, body),
  renewRecoveryCodes: (app, caller, { body }) => account.renewRecoveryCodes(app, caller, body),
  getAccount: (app, caller) => account.getAccount(app, caller),
  endOtherSessions: (app, caller) => account.signOutElsewhere(app, caller),
  confirmSecondFactor: (app, caller, { body }) => account.confirmSecondFactor(app, caller, body.code),

  getClock: (app, caller) => sandbox.getClock(app, caller),
  moveClock: (app, caller, { body }) => sandbox.moveClock(app, caller, body),
  resetClock: (app, caller) => sandbox.resetClock(app, caller),
  resetTeam: (app, caller, { body }) => sandbox.resetTeam(app, caller, body.team_id),
  readInbox: (app, caller, { query }) => inbox.readInbox(app, caller, query),
  emptyInbox: (app, caller) => inbox.emptyInbox(app, caller),

  ...wearableHandlers,
}
