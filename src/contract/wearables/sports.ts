const slugs = [
  ...['other', 'running', 'walking', 'hiking', 'cycling', 'indoor_cycling', 'mountain_biking', 'swimming', 'open_water_swimming'],
  ...['rowing', 'indoor_rowing', 'strength_training', 'functional_training', 'core_training', 'high_intensity_interval_training', 'yoga'],
  ...['pilates', 'barre', 'dance', 'cardio', 'cooldown', 'stretching', 'stair_climbing', 'step_training', 'elliptical', 'treadmill'],
  ...['jump_rope', 'boxing', 'kickboxing', 'martial_arts', 'wrestling', 'fencing', 'climbing', 'gymnastics', 'tai_chi', 'meditation'],
  ...[
    'soccer',
    'american_football',
    'australian_football',
    'rugby',
    'basketball',
    'baseball',
    'softball',
    'cricket',
    'volleyball',
    'handball',
  ],
  ...[
    'hockey',
    'ice_hockey',
    'lacrosse',
    'tennis',
    'table_tennis',
    'badminton',
    'squash',
    'racquetball',
    'pickleball',
    'golf',
    'disc_golf',
  ],
  ...['bowling', 'archery', 'curling', 'equestrian', 'fishing', 'hunting', 'skateboarding', 'skating', 'ice_skating', 'inline_skating'],
  ...[
    'cross_country_skiing',
    'downhill_skiing',
    'snowboarding',
    'snowshoeing',
    'sailing',
    'surfing',
    'kitesurfing',
    'windsurfing',
    'paddling',
  ],
  ...['kayaking', 'canoeing', 'stand_up_paddling', 'water_polo', 'water_fitness', 'diving', 'scuba_diving', 'triathlon', 'track_and_field'],
  ...[
    'wheelchair_walking',
    'wheelchair_running',
    'hand_cycling',
    'mixed_cardio',
    'fitness_gaming',
    'play',
    'rock_climbing',
    'trail_running',
  ],
]

const ids = new Map(slugs.map((slug, i) => [slug, i + 1]))

const nameOf = (slug: string) => slug.charAt(0).toUpperCase() + slug.slice(1).replaceAll('_', ' ')

/** Looks a sport up by its slug. An unknown sport keeps its name and gets the ID 0. */
export const sportOf = (slug: string) => ({ id: ids.get(slug) ?? 0, name: nameOf(slug), slug })
