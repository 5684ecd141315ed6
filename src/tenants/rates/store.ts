import { type Db, prepareStatement, run } from '../../platform/db/open.ts'

type Lease = {
  team_id: string
  subject_id: string
  perSecond: number
  burst: number
  wanted: number
  /** Tokens of an earlier lease that were not used. */
  returned: number
  at: string
}

// The tokens before the lease: those that were left, those that come back, and those that the time has added.
const available = `least($4::float8, b.tokens + $6::float8 + greatest(0, extract(epoch from excluded.at - b.at)::float8) * $3::float8)`
const granted = `least(floor(${available}), $5::float8)`

const leaseText = prepareStatement(
  'lease_tokens',
  `insert into rate_buckets as b (team_id, subject_id, tokens, granted, at)
   values ($1::uuid, $2::uuid, $4::float8 - least($4::float8, $5::float8), least($4::float8, $5::float8), $7::timestamptz)
   on conflict (team_id, subject_id) do update
   set tokens = ${available} - ${granted}, granted = ${granted}, at = greatest(b.at, excluded.at)
   returning b.granted, b.tokens`,
  { hot: 'write' },
)

/** Takes up to `wanted` tokens. Returns how many it took and how many are left. */
export async function leaseTokens(db: Db, { team_id, subject_id, perSecond, burst, wanted, returned, at }: Lease) {
  const rows = await run<{ granted: number; tokens: number }>(db, leaseText, [
    ...[team_id, subject_id, perSecond, burst, wanted, returned, at],
  ])
  return rows[0] as { granted: number; tokens: number }
}
