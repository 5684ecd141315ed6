/** The ways to connect a source. */
export const authTypes = ['oauth', 'team_oauth', 'sdk', 'password', 'email', 'app'] as const

export const catalogSourceTypes = ['app', 'ble', 'device', 'lab', 'provider'] as const

/** A wearable source of the catalog. */
export type Source = {
  id: number
  name: string
  description: string
  auth_type: (typeof authTypes)[number]
  source_type: (typeof catalogSourceTypes)[number]
  /** Whether the source pushes data, is polled, or both. */
  update_model: 'push' | 'poll' | 'hybrid'
  /** The relation of its times to a time zone. `floating` times are local wall-clock times and are never converted. */
  timezone_affinity: 'embedded' | 'floating' | 'absent' | 'inferred_or_absent' | 'user_fallback_or_absent' | 'user_fallback_or_utc'
  /** The kinds of devices that its samples come from. */
  source_types: string[]
  summary_resources: string[]
  timeseries_resources: string[]
  /** The maximum number of days of history. */
  backfill_days: number
  /** Set if the source ended its API: when, and the slug of the source that replaces it. */
  retired?: { since: string; successor: string }
}

const defaults = {
  source_type: 'device',
  timezone_affinity: 'embedded',
  source_types: ['unknown'],
  summary_resources: [],
  timeseries_resources: [],
  backfill_days: 90,
} satisfies Partial<Source>

type ConnectionMethod = Pick<Source, 'auth_type' | 'update_model'>
type DefaultedField = keyof typeof defaults | keyof ConnectionMethod

/** Creates sources that connect in the same way. A row names only the fields that differ. */
export const sourceFactory =
  (method: ConnectionMethod) =>
  (row: Omit<Source, DefaultedField> & Partial<Pick<Source, DefaultedField>>): Source => ({ ...defaults, ...method, ...row })
