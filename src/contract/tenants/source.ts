/** How a connection to a source is made. */
export const authTypes = ['oauth', 'team_oauth', 'sdk', 'password', 'email', 'app'] as const

export const sourceTypes = ['app', 'ble', 'device', 'lab', 'provider'] as const

/** A wearable source, as the catalogue of sources has it. */
export type Source = {
  id: number
  name: string
  description: string
  auth_type: (typeof authTypes)[number]
  source_type: (typeof sourceTypes)[number]
  /** Whether it tells us, has to be asked, or both. */
  update_model: 'push' | 'poll' | 'hybrid'
  /** What its times say of the place: `floating` ones are the clock on the wall and are never converted. */
  timezone_affinity: 'embedded' | 'floating' | 'absent' | 'inferred_or_absent' | 'user_fallback_or_absent' | 'user_fallback_or_utc'
  /** The kinds of device that its samples come from. */
  source_types: string[]
  summary_resources: string[]
  timeseries_resources: string[]
  /** How far back it gives data, at most. */
  backfill_days: number
}

const defaults = {
  source_type: 'device',
  timezone_affinity: 'embedded',
  source_types: ['unknown'],
  summary_resources: [],
  timeseries_resources: [],
  backfill_days: 90,
} satisfies Partial<Source>

type Way = Pick<Source, 'auth_type' | 'update_model'>
type Defaulted = keyof typeof defaults | keyof Way

/** Sources that are connected in the same way; a row names what is its own. */
export const sourcesBy =
  (way: Way) =>
  (row: Omit<Source, Defaulted> & Partial<Pick<Source, Defaulted>>): Source => ({ ...defaults, ...way, ...row })
