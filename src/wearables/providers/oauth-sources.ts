import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { OAuthSetting } from '../../contract/wearables/oauth-setting.ts'

/** `reads` maps scopes to the resources that they cover; `other` lists the remaining scopes. */
type SourceSettings = OAuthSetting & { reads?: Record<string, string[]>; other?: string[] }

const google = {
  authorize_url: 'https://accounts.google.com/o/oauth2/v2/auth',
  token_url: 'https://oauth2.googleapis.com/token',
  revoke_url: 'https://oauth2.googleapis.com/revoke',
  client_auth: 'body',
  authorize_params: { access_type: 'offline', prompt: 'consent' },
} as const

const fitness = (name: string) => `https://www.googleapis.com/auth/fitness.${name}.read`
const health = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`

/**
 * The OAuth 2 settings that the sources document. They are not tested against the sources.
 * OAUTH_SOURCES overrides them and adds other sources.
 */
export const knownSources: Partial<Record<SourceSlug, SourceSettings>> = {
  // Its servers are gone.
  fitbit: {
    client_auth: 'basic',
    account_field: 'user_id',
    reads: {
      activity: ['activity', 'workouts', 'steps', 'distance', 'calories_active', 'floors_climbed'],
      heartrate: ['heartrate', 'hrv'],
      sleep: ['sleep'],
      weight: ['body', 'weight', 'fat'],
      profile: ['profile'],
      oxygen_saturation: ['blood_oxygen'],
      respiratory_rate: ['respiratory_rate'],
    },
    other: ['cardio_fitness', 'location', 'nutrition', 'settings', 'social', 'temperature'],
  },
  oura: {
    authorize_url: 'https://cloud.ouraring.com/oauth/authorize',
    token_url: 'https://api.ouraring.com/oauth/token',
    client_auth: 'body',
    reads: {
      daily: ['activity', 'sleep', 'sleep_cycle', 'hrv', 'respiratory_rate', 'body_temperature_delta'],
      heartrate: ['heartrate'],
      workout: ['workouts'],
      personal: ['body', 'profile', 'weight'],
      spo2: ['blood_oxygen'],
      heart_health: ['vo2_max'],
    },
    other: ['email', 'tag', 'session', 'spo2Daily', 'ring_configuration', 'stress', 'reproductive_cycle'],
  },
  withings: {
    authorize_url: 'https://account.withings.com/oauth2_user/authorize2',
    token_url: 'https://wbsapi.withings.net/v2/oauth2',
    client_auth: 'body',
    scope_separator: ',',
    account_field: 'userid',
    scopes: ['user.info', 'user.metrics', 'user.activity'],
    reads: {
      'user.metrics': [
        'body',
        'profile',
        'weight',
        'fat',
        'lean_body_mass',
        'blood_pressure',
        'blood_oxygen',
        'body_temperature',
        'vo2_max',
      ],
      'user.activity': [
        ...['activity', 'sleep', 'sleep_cycle', 'workouts', 'steps', 'distance', 'calories_active', 'floors_climbed'],
        ...['heartrate', 'hrv', 'respiratory_rate'],
      ],
    },
    other: ['user.info', 'user.sleepevents'],
  },
  strava: {
    authorize_url: 'https://www.strava.com/oauth/authorize',
    token_url: 'https://www.strava.com/oauth/token',
    revoke_url: 'https://www.strava.com/oauth/revoke',
    client_auth: 'body',
    revoke_auth: 'basic',
    scope_separator: ',',
    account_field: 'athlete.id',
    reads: { 'activity:read_all': ['workouts', 'workout_stream', 'heartrate', 'distance'] },
    other: ['activity:write', 'profile:write', 'profile:read_all'],
  },
  whoop_v2: {
    authorize_url: 'https://api.prod.whoop.com/oauth/oauth2/auth',
    token_url: 'https://api.prod.whoop.com/oauth/oauth2/token',
    client_auth: 'body',
    scopes: ['read:sleep', 'read:recovery', 'read:workout', 'read:cycles', 'read:profile', 'read:body_measurement', 'offline'],
    reads: {
      'read:sleep': ['sleep', 'respiratory_rate'],
      'read:recovery': ['hrv', 'blood_oxygen', 'heartrate'],
      'read:workout': ['workouts'],
      'read:cycles': ['activity'],
      'read:body_measurement': ['body', 'profile', 'weight'],
    },
    other: ['read:profile', 'offline'],
  },
  wahoo: {
    authorize_url: 'https://api.wahooligan.com/oauth/authorize',
    token_url: 'https://api.wahooligan.com/oauth/token',
    client_auth: 'body',
    scopes: ['workouts_read', 'user_read', 'offline_data'],
    reads: { workouts_read: ['workouts'] },
    other: ['email', 'user_read', 'offline_data'],
  },
  polar: {
    authorize_url: 'https://flow.polar.com/oauth2/authorization',
    token_url: 'https://polarremote.com/v2/oauth2/token',
    client_auth: 'basic',
    account_field: 'x_user_id',
    scopes: ['accesslink.read_all'],
  },
  dexcom_v3: {
    authorize_url: 'https://api.dexcom.com/v2/oauth2/login',
    token_url: 'https://api.dexcom.com/v2/oauth2/token',
    client_auth: 'body',
    reads: { offline_access: ['glucose', 'carbohydrates', 'insulin_injection', 'note', 'workout_duration'] },
  },
  google_fit: {
    ...google,
    reads: {
      [fitness('activity')]: ['activity', 'workouts', 'steps', 'calories_active'],
      [fitness('body')]: ['body', 'weight'],
      [fitness('sleep')]: ['sleep'],
      [fitness('blood_glucose')]: ['glucose'],
      [fitness('blood_pressure')]: ['blood_pressure'],
      [fitness('heart_rate')]: ['heartrate'],
      [fitness('location')]: ['distance'],
    },
    other: ['openid', 'email', fitness('nutrition')],
  },
  google_health: {
    ...google,
    // Electrocardiograms only if a team asks for them, because Google reviews each scope of an application.
    scopes: ['activity_and_fitness', 'sleep', 'health_metrics_and_measurements'].map(health),
    reads: {
      [health('activity_and_fitness')]: [
        ...['activity', 'workouts', 'workout_stream', 'steps', 'distance', 'calories_active', 'floors_climbed', 'vo2_max'],
      ],
      [health('sleep')]: ['sleep', 'sleep_cycle', 'body_temperature_delta'],
      [health('health_metrics_and_measurements')]: [
        ...['body', 'profile', 'heartrate', 'hrv', 'blood_oxygen', 'respiratory_rate', 'weight', 'fat', 'glucose'],
        ...['body_temperature', 'body_temperature_delta', 'workout_stream'],
      ],
      [health('ecg')]: ['electrocardiogram', 'electrocardiogram_voltage'],
    },
    other: ['openid', 'email', ...['irn', 'location', 'profile', 'settings'].map(health)],
  },
}
