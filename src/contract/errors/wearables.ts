import { errors } from './kinds.ts'

export const connectionErrors = errors({
  CONNECTION_ENDED: {
    kind: 'refused',
    meaning: 'Data was pushed for a source that is disconnected.',
    remedy: 'Connect the source again with POST /v2/link/provider/manual/{provider} or a link token.',
  },
  CONNECTION_IS_NO_DEMO: {
    kind: 'refused',
    meaning: 'The user has connected this source for real, so it cannot become a demo connection.',
    remedy: 'Disconnect the source first, or choose another source for the demo.',
  },
  CONNECTION_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The user has not connected this source.',
    remedy: 'List the connections with GET /v2/user/providers/{user_id}.',
  },
  CONNECTION_NOT_READABLE: {
    kind: 'refused',
    meaning: 'Assay cannot read this connection: it is broken or paused, or Assay does not read the source.',
    remedy: 'GET /v2/user/providers/{user_id} shows the status. Let the user connect the source again if it is broken or paused.',
  },
  CREDENTIALS_INCOMPLETE: {
    kind: 'refused',
    meaning: 'The credentials of the team at a source lack client_id or client_secret.',
    remedy: 'Send client_id and client_secret together the first time.',
  },
  DEVICE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The user has no such device.',
    remedy: 'List the devices with GET /v2/user/{user_id}/device.',
  },
  NO_SIGN_IN_WAITING: {
    kind: 'refused',
    meaning: 'A code was sent, but no sign-in at the source is pending.',
    remedy: 'Start with POST /v2/link/provider/password/{provider}.',
  },
  REFRESH_FAILED: {
    kind: 'refused',
    meaning: 'None of the sources of the user could be refreshed.',
    remedy: 'GET /v2/user/providers/{user_id} shows which sources need to be connected again.',
  },
  SOURCE_NOT_CONFIGURED: {
    kind: 'refused',
    meaning: 'Neither the team nor the operator has credentials for this source.',
    remedy: 'Set the credentials of the team, or ask the operator to set OAUTH_SOURCES.',
  },
  SOURCE_RETIRED: {
    kind: 'refused',
    meaning: 'The source ended its API, so accounts can no longer be connected.',
    remedy: 'Connect the source that the message names.',
  },
  SOURCE_NOT_OFFERED: {
    kind: 'refused',
    meaning: 'The link token does not allow this source.',
    remedy: 'List the allowed sources with GET /v2/link/providers.',
  },
  TOO_MANY_LINKS: {
    kind: 'too_many',
    meaning: 'The link token started too many connections within 10 minutes.',
    remedy: 'Wait 10 minutes, or create a new token.',
  },
  TOO_MANY_REFRESHES: {
    kind: 'too_many',
    meaning: 'The sources of the user were refreshed 8 times within the last hour.',
    remedy: 'Wait until the first of these refreshes is an hour old.',
  },
})

export const wearableDataErrors = errors({
  PROFILE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'No source has sent a profile of the user.',
    remedy: 'Wait for a daily.data.profile.created event.',
  },
  SLEEP_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no sleep session with this ID.',
    remedy: 'Read the sleep summaries of the user to find the ID.',
  },
  TOO_MANY_SAMPLES: {
    kind: 'refused',
    meaning: 'The window contains more than 100,000 samples, too many for one array.',
    remedy: 'Read the /grouped endpoint page by page, or a shorter window.',
  },
  TOO_MANY_SUMMARIES: {
    kind: 'refused',
    meaning: 'The period contains more than 10,000 summaries, too many for one response.',
    remedy: 'Read a shorter period.',
  },
  WORKOUT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no workout with this ID.',
    remedy: 'Push the workout before its stream.',
  },
  WORKOUT_STREAM_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The workout has no stream.',
    remedy: 'Wait for a daily.data.workout_stream.created event.',
  },
})
