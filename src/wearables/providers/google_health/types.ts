/** The feed that reads each type of data that a notification can name. */
export const kinds: Record<string, string> = {
  ...{ steps: 'activity', distance: 'activity', floors: 'activity', 'total-calories': 'activity', 'active-energy-burned': 'activity' },
  ...{ 'active-minutes': 'activity', 'daily-resting-heart-rate': 'activity' },
  ...{ sleep: 'sleep', 'daily-sleep-temperature-derivations': 'sleep', 'daily-respiratory-rate': 'sleep' },
  ...{ 'daily-heart-rate-variability': 'sleep', 'respiratory-rate-sleep-summary': 'respiratory_rate' },
  ...{ exercise: 'workouts', weight: 'body', 'body-fat': 'body', height: 'profile', electrocardiogram: 'electrocardiogram' },
  ...{ 'heart-rate': 'heartrate', 'heart-rate-variability': 'hrv', 'oxygen-saturation': 'blood_oxygen' },
  ...{
    'blood-glucose': 'glucose',
    'core-body-temperature': 'body_temperature',
    'vo2-max': 'vo2_max',
    'run-vo2-max': 'vo2_max',
    'daily-vo2-max': 'vo2_max',
  },
}

/** The types that Google documents notifications for. It would refuse others. */
export const notifiedTypes = [
  ...['steps', 'distance', 'floors', 'total-calories', 'daily-resting-heart-rate', 'sleep', 'daily-sleep-temperature-derivations'],
  ...['daily-respiratory-rate', 'daily-heart-rate-variability', 'respiratory-rate-sleep-summary', 'exercise', 'weight', 'body-fat'],
  ...['height', 'heart-rate', 'heart-rate-variability', 'blood-glucose'],
]
