import type { PullContext, Records } from './cloud.ts'
import { isNumber } from './rules-clock.ts'

/** A profile without dates, with the height in cm and the weight in kg. */
type Profile = { height: number | null; weight: number | null; biological_sex?: string | null | undefined }

/** The profile is stored as it is. Its weight is a new measurement only if it differs from the last. */
export async function profileRecords(profile: Profile, { now, lastProfile }: PullContext): Promise<Records> {
  const isSameWeight = (await lastProfile())?.['weight'] === profile.weight
  return {
    summaries: [
      { resource: 'body', items: isSameWeight ? [] : weightOf(profile, now) },
      { resource: 'profile', items: [profile] },
    ],
  }
}

const weightOf = ({ weight }: Profile, now: string) =>
  isNumber(weight) && weight > 0 ? [{ body_mass: [{ value: weight, unit: 'kg', start_date: now, type: 'app' }], source_type: 'app' }] : []

/** One read is the whole history of a profile. */
export const undated = { maxDays: 0, windowDays: 1, trailingDays: 0 }
