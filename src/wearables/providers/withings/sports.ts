/** The sport of each category of workouts. Others are `other`. */
const sports: Record<number, string> = {
  ...{ 1: 'walking', 2: 'running', 3: 'hiking', 4: 'skating', 5: 'bmx', 6: 'cycling', 7: 'swimming', 8: 'surfing' },
  ...{ 9: 'kitesurfing', 10: 'windsurfing', 12: 'tennis', 13: 'table_tennis', 14: 'squash', 15: 'badminton' },
  ...{ 16: 'strength_training', 17: 'functional_training', 18: 'elliptical', 19: 'pilates', 20: 'basketball', 21: 'soccer' },
  ...{ 22: 'american_football', 23: 'rugby', 24: 'volleyball', 25: 'water_polo', 26: 'equestrian', 27: 'golf', 28: 'yoga' },
  ...{ 29: 'dance', 30: 'boxing', 31: 'fencing', 32: 'wrestling', 33: 'martial_arts', 34: 'downhill_skiing', 35: 'snowboarding' },
  ...{ 187: 'rowing', 188: 'zumba', 191: 'baseball', 192: 'handball', 193: 'hockey', 194: 'ice_hockey', 195: 'climbing' },
  ...{ 196: 'ice_skating', 272: 'multi_sport', 306: 'indoor_walking', 307: 'treadmill', 308: 'indoor_cycling' },
  ...{ 455: 'stand_up_paddling', 456: 'padel', 491: 'stair_climbing', 494: 'kayaking', 495: 'canoeing', 496: 'sailing' },
  ...{ 498: 'trail_running', 499: 'snowshoeing', 510: 'pickleball', 517: 'track_and_field', 521: 'triathlon' },
  ...{ 523: 'mountain_biking', 524: 'gravel_cycling', 525: 'e_biking', 527: 'hand_cycling', 529: 'backcountry_skiing' },
  ...{ 530: 'cross_country_skiing', 546: 'crossfit', 547: 'indoor_cycling', 548: 'cricket', 550: 'high_intensity_interval_training' },
  ...{ 551: 'meditation', 552: 'stretching', 557: 'lacrosse', 564: 'bowling', 566: 'nordic_walking' },
}

export const sportOf = (category: number) => sports[category] ?? 'other'
