import { sourceFactory } from './source.ts'

const source = sourceFactory({ auth_type: 'password', update_model: 'poll' })

/** Sources that users connect with a user name and password, or with an email address. */
export const passwordSources = {
  abbott_libreview: source({
    id: 15,
    name: 'Abbott LibreView',
    description: 'Glucose from Abbott sensors, through LibreView.',
    timezone_affinity: 'floating',
    source_types: ['automatic', 'manual_scan'],
    timeseries_resources: ['glucose', 'insulin_injection', 'carbohydrates', 'note'],
  }),
  eight_sleep: source({
    id: 18,
    name: 'Eight Sleep',
    description: 'Sleep measured by an Eight Sleep mattress.',
    summary_resources: ['sleep'],
    timeseries_resources: ['heartrate', 'hrv', 'respiratory_rate'],
  }),
  peloton: source({
    id: 19,
    name: 'Peloton',
    description: 'Workouts on Peloton machines.',
    summary_resources: ['workouts', 'workout_stream'],
  }),
  zwift: source({
    id: 20,
    name: 'Zwift',
    description: 'Indoor rides and runs with Zwift.',
    source_type: 'app',
    timezone_affinity: 'user_fallback_or_absent',
    summary_resources: ['workouts', 'workout_stream'],
  }),
  hammerhead: source({
    id: 21,
    name: 'Hammerhead',
    description: 'Rides recorded with a Hammerhead computer.',
    timezone_affinity: 'inferred_or_absent',
    summary_resources: ['workouts', 'workout_stream'],
  }),
  freestyle_libre: source({
    id: 25,
    name: 'Freestyle Libre',
    description: 'Glucose from Freestyle Libre sensors, shared with a practice.',
    auth_type: 'email',
    timezone_affinity: 'floating',
    source_types: ['automatic', 'manual_scan'],
    timeseries_resources: ['glucose'],
  }),
  whoop: source({
    id: 26,
    name: 'WHOOP (older)',
    description: 'The older WHOOP connection with a username and password.',
    summary_resources: ['sleep', 'workouts', 'body', 'profile'],
  }),
  renpho: source({
    id: 27,
    name: 'Renpho',
    description: 'Renpho scales.',
    source_types: ['scale'],
    summary_resources: ['body'],
    timeseries_resources: ['weight', 'fat'],
  }),
  tandem_source: source({
    id: 28,
    name: 'Tandem Source',
    description: 'Tandem insulin pumps and their glucose sensors.',
    timezone_affinity: 'floating',
    source_types: ['insulin_pump', 'automatic'],
    timeseries_resources: ['glucose', 'insulin_injection', 'carbohydrates'],
  }),
  beurer_api: source({
    id: 31,
    name: 'Beurer',
    description: 'Beurer scales and blood pressure cuffs, through the Beurer cloud.',
    source_types: ['scale', 'cuff', 'unknown'],
    summary_resources: ['activity', 'sleep', 'body'],
    timeseries_resources: ['blood_pressure', 'glucose', 'weight', 'fat'],
  }),
  dexcom: source({
    id: 37,
    name: 'Dexcom (older)',
    description: 'The older Dexcom connection with a username and password.',
    source_types: ['automatic'],
    timeseries_resources: ['glucose'],
  }),
  my_fitness_pal: source({
    id: 38,
    name: 'MyFitnessPal (older)',
    description: 'The older MyFitnessPal connection with a username and password.',
    source_type: 'app',
    timezone_affinity: 'absent',
    source_types: ['app'],
    summary_resources: ['meal'],
    timeseries_resources: ['water'],
  }),
}
