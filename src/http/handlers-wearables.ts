import type { sourceEndpoints } from '../contract/tenants/sources.ts'
import type { bulkEndpoints } from '../contract/wearables/bulk.ts'
import type { connectionEndpoints } from '../contract/wearables/connections.ts'
import type { demoEndpoints } from '../contract/wearables/demo.ts'
import type { introspectionEndpoints } from '../contract/wearables/introspection.ts'
import type { linkEndpoints } from '../contract/wearables/link.ts'
import type { deprecatedLinkEndpoints } from '../contract/wearables/link-deprecated.ts'
import type { sourceStatusEndpoints } from '../contract/wearables/source-status.ts'
import type { streamEndpoints } from '../contract/wearables/streams.ts'
import type { teamSourceEndpoints } from '../contract/wearables/team-sources.ts'
import type { summaryEndpoints } from '../contract/wearables/wearable-summaries.ts'
import type { wearableEndpoints } from '../contract/wearables/wearables.ts'
import * as sources from '../tenants/sources/actions.ts'
import { createUserToken } from '../tenants/tokens/user-tokens.ts'
import * as bulk from '../wearables/bulk/actions.ts'
import * as connections from '../wearables/connections/actions.ts'
import * as devices from '../wearables/connections/devices.ts'
import { bulkExport } from '../wearables/connections/export.ts'
import { pauseConnections } from '../wearables/connections/pause.ts'
import * as introspect from '../wearables/data/introspect.ts'
import * as priorities from '../wearables/data/priorities.ts'
import * as ingest from '../wearables/data/samples/ingest.ts'
import * as samples from '../wearables/data/samples/read.ts'
import * as streams from '../wearables/data/streams/streams.ts'
import * as summaries from '../wearables/data/summaries/read-summaries.ts'
import { pushSummaries } from '../wearables/data/summaries/summaries.ts'
import * as cloudCredentials from '../wearables/ingestion/applications/credentials.ts'
import { getSourceStatus, listConnections } from '../wearables/ingestion/status/actions.ts'
import { pullWindow } from '../wearables/ingestion/status/pull-window.ts'
import { connectDemo } from '../wearables/link/demo.ts'
import * as deprecatedLinks from '../wearables/link/deprecated.ts'
import { startOAuth } from '../wearables/link/oauth.ts'
import * as signIn from '../wearables/link/sign-in.ts'
import { listLinkSources } from '../wearables/link/sources.ts'
import * as linkTokens from '../wearables/link/tokens.ts'
import { disconnectSource } from '../wearables/pulls/actions.ts'
import { refreshUser } from '../wearables/pulls/refresh.ts'
import * as teamCredentials from '../wearables/team-sources/credentials.ts'
import * as preferences from '../wearables/team-sources/preferences.ts'
import * as requirements from '../wearables/team-sources/requirements.ts'
import type { HandlersOf } from './handler.ts'

type WearableEndpoints = typeof bulkEndpoints &
  typeof connectionEndpoints &
  typeof demoEndpoints &
  typeof introspectionEndpoints &
  typeof linkEndpoints &
  typeof deprecatedLinkEndpoints &
  typeof sourceEndpoints &
  typeof sourceStatusEndpoints &
  typeof streamEndpoints &
  typeof teamSourceEndpoints &
  typeof summaryEndpoints &
  typeof wearableEndpoints

/** Maps each wearable endpoint to its action, with no logic in between. */
export const wearableHandlers: HandlersOf<WearableEndpoints> = {
  listSources: (app, _, { query }) => sources.listSources(app, query),
  listConnections: (app, caller, { params }) => listConnections(app, caller, params.user_id),
  endConnection: (app, caller, { params }) => disconnectSource(app, caller, params.user_id, params.provider),
  connectPushSource: (app, caller, { params, body }) => connections.connectPushSource(app, caller, params.provider, body),
  refreshUser: (app, caller, { params, query }) => refreshUser(app, caller, params.user_id, query.timeout),
  createUserToken: (app, caller, { params }) => createUserToken(app, caller, params.user_id),
  listDevices: (app, caller, { params }) => devices.listDevices(app, caller, params.user_id),
  getDevice: (app, caller, { params }) => devices.getDevice(app, caller, params.user_id, params.device_id),

  createLinkToken: (app, caller, { body }) => linkTokens.createLinkToken(app, caller, body),
  checkLinkToken: (app, caller, { body }) => linkTokens.isTokenValid(app, caller, body.token),
  listLinkSources: (app, caller) => listLinkSources(app, caller),
  startOAuth: (app, caller, { params, query }) => startOAuth(app, caller, params.oauth_provider, query),
  connectByPassword: (app, caller, { params, body }) => signIn.connectByPassword(app, caller, params.provider, body),
  completeMfa: (app, caller, { params, body }) => signIn.completeMfa(app, caller, params.provider, body.mfa_code),
  connectByEmail: (app, caller, { params, body }) => signIn.connectByEmail(app, caller, params.provider, body),

  startLink: (app, caller, { body }) => deprecatedLinks.startLink(app, caller, body),
  getLinkState: (app, caller) => deprecatedLinks.getLinkState(app, caller),
  authByPassword: (app, caller, { body }) => signIn.connectByPassword(app, caller, body.provider, body),
  authByEmail: (app, caller, { body }) => signIn.connectByEmail(app, caller, body.provider, body),

  listBulkOps: (app, caller, { query }) => bulk.listBulkOps(app, caller, query),
  bulkImport: (app, caller, { body }) => bulk.bulkImport(app, caller, body),
  bulkTriggerHistoricalPull: (app, caller, { body }) => bulk.bulkTriggerHistoricalPull(app, caller, body),
  bulkExport: (app, caller, { body }) => bulkExport(app, caller, body),
  bulkPause: (app, caller, { body }) => pauseConnections(app, caller, body),

  listTeamCredentials: (app, caller, { query }) => teamCredentials.listCredentials(app, caller, query),
  putTeamCredential: (app, caller, { body }) => cloudCredentials.putCredential(app, caller, body),
  deleteTeamCredentials: (app, caller, { query }) => cloudCredentials.deleteCredentials(app, caller, query.credential_id),
  prepareTeamCredential: (app, caller, { body }) => cloudCredentials.prepareCredential(app, caller, body),
  listPullPreferences: (app, caller, { query }) => preferences.listPreferences(app, caller, query),
  putPullPreferences: (app, caller, { body }) => preferences.putPreferences(app, caller, body),
  deletePullPreferences: (app, caller, { query }) => preferences.deletePreferences(app, caller, query),
  listScopeRequirements: (app, caller, { params, query }) => requirements.listRequirements(app, caller, params.team_id, query.provider),
  putScopeRequirements: (app, caller, { params, body }) => requirements.putRequirements(app, caller, params.team_id, body),

  connectDemo: (app, caller, { body }) => connectDemo(app, caller, body),

  pushSamples: (app, caller, { params, body }) => ingest.pushSamples(app, caller, params.user_id, params.resource, body),
  listSamples: (app, caller, { params, query }) => samples.listSamples(app, caller, params.user_id, params.resource, query),
  listSamplesPlain: (app, caller, { params, query }) => samples.listSamplesPlain(app, caller, params.user_id, params.resource, query),
  listCholesterolTotal: (app, caller, { params, query }) => samples.listCholesterol(app, caller, params.user_id, 'total', query),
  listCholesterolHdl: (app, caller, { params, query }) => samples.listCholesterol(app, caller, params.user_id, 'hdl', query),
  listCholesterolLdl: (app, caller, { params, query }) => samples.listCholesterol(app, caller, params.user_id, 'ldl', query),
  listCholesterolTriglycerides: (app, caller, { params, query }) =>
    samples.listCholesterol(app, caller, params.user_id, 'triglycerides', query),

  pushSummaries: (app, caller, { params, body }) => pushSummaries(app, caller, params.user_id, params.resource, body),
  listActivity: async (app, caller, { params, query }) => ({
    activity: await summaries.listSummaries(app, caller, params.user_id, 'activity', query),
  }),
  listSleep: async (app, caller, { params, query }) => ({
    sleep: await summaries.listSummaries(app, caller, params.user_id, 'sleep', query),
  }),
  listSleepCycles: async (app, caller, { params, query }) => ({
    sleep_cycle: await summaries.listSummaries(app, caller, params.user_id, 'sleep_cycle', query),
  }),
  listWorkouts: async (app, caller, { params, query }) => ({
    workouts: await summaries.listSummaries(app, caller, params.user_id, 'workouts', query),
  }),
  listBody: async (app, caller, { params, query }) => ({ body: await summaries.listSummaries(app, caller, params.user_id, 'body', query) }),
  listMeals: async (app, caller, { params, query }) => ({
    meals: await summaries.listSummaries(app, caller, params.user_id, 'meal', query),
  }),
  listMenstrualCycles: async (app, caller, { params, query }) => ({
    menstrual_cycle: await summaries.listSummaries(app, caller, params.user_id, 'menstrual_cycle', query),
  }),
  listElectrocardiograms: async (app, caller, { params, query }) => ({
    electrocardiogram: await summaries.listSummaries(app, caller, params.user_id, 'electrocardiogram', query),
  }),
  getProfile: (app, caller, { params, query }) => summaries.getProfile(app, caller, params.user_id, query),
  listRawActivity: async (app, caller, { params, query }) => ({
    activity: await summaries.listRawSummaries(app, caller, params.user_id, 'activity', query),
  }),
  listRawSleep: async (app, caller, { params, query }) => ({
    sleep: await summaries.listRawSummaries(app, caller, params.user_id, 'sleep', query),
  }),
  listRawWorkouts: async (app, caller, { params, query }) => ({
    workouts: await summaries.listRawSummaries(app, caller, params.user_id, 'workouts', query),
  }),
  listRawBody: async (app, caller, { params, query }) => ({
    body: await summaries.listRawSummaries(app, caller, params.user_id, 'body', query),
  }),
  getRawProfile: (app, caller, { params, query }) => summaries.getRawProfile(app, caller, params.user_id, query),
  listRawDevices: (app, caller, { params, query }) => summaries.listRawDevices(app, caller, params.user_id, query),
  pushWorkoutStream: (app, caller, { params, body }) => streams.pushWorkoutStream(app, caller, params.workout_id, body),
  getWorkoutStream: (app, caller, { params }) => streams.getWorkoutStream(app, caller, params.workout_id),
  getSleepStream: (app, caller, { params }) => streams.getSleepStream(app, caller, params.sleep_id),
  getUserResources: (app, caller, { query }) => introspect.getUserResources(app, caller, query),
  getHistoricalPulls: (app, caller, { query }) => introspect.getHistoricalPulls(app, caller, query),
  getDataDays: (app, caller, { query }) => introspect.getDataDays(app, caller, query),
  getSourcePriorities: (app, caller, { query }) => priorities.getSourcePriorities(app, caller, query.data_type),
  getSourceStatus: (app, caller) => getSourceStatus(app, caller),
  pullWindow: (app, caller, { params, body }) => pullWindow(app, caller, params, body),
  patchSourcePriorities: (app, caller, { body }) => priorities.patchSourcePriorities(app, caller, body ?? []),
}
