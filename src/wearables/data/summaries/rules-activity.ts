import type { NewSummary } from '../../../contract/wearables/new-summaries.ts'
import { DAY } from '../../../platform/time.ts'
import { localDay, zoneIn } from '../../time/rules.ts'
import { isoOf } from '../rules-present.ts'
import { dedupeByKey } from '../samples/rules-merge.ts'
import {
  type BuildContext,
  type BuiltItem,
  type Draft,
  type Part,
  parseRecordedAt,
  type ReportFault,
  recorderOf,
  roundOrNull,
} from './rules-summary.ts'

/** Clock changes happen at night, so the offset at noon in UTC holds for most of the local day. */
const noonOf = (day: string) => Date.parse(`${day}T12:00:00Z`)
const wholeDay = (day: string) => ({ from: Date.parse(day), to: Date.parse(day) + DAY - 1 })
const dateOf = (day: string) => `${day}T00:00:00.000Z`

/** Builds the activity of a day and its embedded samples. */
export function buildActivity(item: NewSummary<'activity'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const { day_summary: day } = item
  const { samples } = context
  if (!day) return { drafts: [], samples }
  const { date } = day
  if (noonOf(date) > context.now + 1.5 * DAY) reportFault('day_summary.date', 'Must not be in the future.')
  if (date < '1900') reportFault('day_summary.date', 'Must be 1900-01-01 or later.')
  const distance = day.distance_sum ?? day.distance_walking_running_sum ?? null
  const [active, basal] = [day.active_energy_burned_sum ?? null, day.basal_energy_burned_sum ?? null]
  const fields = {
    ...{ calendar_date: date, date: dateOf(date), time_zone: context.time_zone },
    timezone_offset: day.timezone_offset ?? context.zoneAt(noonOf(date)),
    calories_active: active,
    calories_total: day.total_energy_burned_sum ?? (active === null || basal === null ? null : active + basal),
    steps: roundOrNull(day.steps_sum),
    ...{ distance, daily_movement: distance },
    floors_climbed: roundOrNull(day.floors_climbed_sum),
    ...{ low: day.low ?? null, medium: day.medium ?? null, high: day.high ?? null },
    heart_rate: heartOf(day),
    wheelchair_use: day.wheelchair_use ? true : null,
    wheelchair_push: roundOrNull(day.wheelchair_push_sum),
  }
  const draft: Draft = {
    resource: 'activity',
    external: date,
    calendar_date: date,
    period: wholeDay(date),
    fields,
    raw,
    ...recorderOf(item, context, reportFault),
  }
  return { drafts: [draft], samples }
}

type ActivityDay = NonNullable<NewSummary<'activity'>['day_summary']>

function heartOf(day: ActivityDay) {
  const heart = {
    avg_bpm: day.heart_rate_mean ?? null,
    min_bpm: day.heart_rate_minimum ?? null,
    max_bpm: day.heart_rate_maximum ?? null,
    resting_bpm: day.heart_rate_resting ?? null,
    avg_walking_bpm: day.heart_rate_walking_average ?? null,
  }
  return Object.values(heart).some((bpm) => bpm !== null) ? heart : null
}

/** The body field that each list of samples fills. */
const bodyFields: Record<string, string> = {
  body_mass: 'weight',
  body_fat_percentage: 'fat',
  body_mass_index: 'body_mass_index',
  lean_body_mass: 'lean_body_mass_kilogram',
  waist_circumference: 'waist_circumference_centimeter',
}

const noBody = {
  ...{ weight: null, fat: null, water_percentage: null, muscle_mass_percentage: null, visceral_fat_index: null },
  ...{ bone_mass_percentage: null, body_mass_index: null, lean_body_mass_kilogram: null, waist_circumference_centimeter: null },
}

/** Builds one summary per calendar day of the user, from the last measurement of each kind. */
export function buildBody(item: NewSummary<'body'>, _raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const { samples } = context
  const recorder = recorderOf(item, context, reportFault)
  const days = new Map<string, Record<string, Part>>()
  for (const { field, samples: bodySamples } of samples)
    for (const { at, zone, value, version } of dedupeByKey(bodySamples.map((sample) => ({ ...sample, type: '' })))) {
      const day = localDay(at, zone)
      const parts = days.get(day) ?? {}
      parts[bodyFields[field] as string] = { value, at, version, raw: { [field]: { value, timestamp: isoOf(at) } } }
      days.set(day, parts)
    }
  for (const { field, value, start_date } of item.composition ?? []) {
    const at = parseRecordedAt(start_date, 'composition', context.now, reportFault)
    const day = localDay(at, zoneIn(start_date) ?? context.zoneAt(at))
    const parts = days.get(day) ?? {}
    const part = { value, at, version: recorder.version, raw: { [field]: { value, timestamp: isoOf(at) } } }
    if (!(Number(parts[field]?.at) > at)) parts[field] = part
    days.set(day, parts)
  }
  const drafts = [...days].map(([day, parts]): Draft => {
    const fields = { ...noBody, calendar_date: day, date: dateOf(day), timezone_offset: context.zoneAt(noonOf(day)) }
    return { resource: 'body', external: day, calendar_date: day, period: wholeDay(day), fields, raw: {}, parts, ...recorder }
  })
  return { drafts, samples }
}

const sexes: Record<string, string> = { female: 'female', male: 'male', other: 'other' }

/** Builds the profile of a user. Each source has one. */
export function buildProfile(item: NewSummary<'profile'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const { biological_sex, gender, date_of_birth, height, wheelchair_use } = item
  if (date_of_birth && Date.parse(date_of_birth) > context.now) reportFault('date_of_birth', 'Must not be in the future.')
  if (date_of_birth && date_of_birth < '1850') reportFault('date_of_birth', 'Must be 1850-01-01 or later.')
  const fields = {
    height: roundOrNull(height),
    birth_date: date_of_birth ?? null,
    gender: gender ?? null,
    sex: sexes[biological_sex?.toLowerCase() ?? ''] ?? null,
    wheelchair_use: wheelchair_use ? true : null,
  }
  const draft: Draft = {
    resource: 'profile',
    external: '',
    calendar_date: localDay(context.now, null),
    period: null,
    fields,
    raw,
    ...recorderOf(item, context, reportFault),
  }
  return { drafts: [draft], samples: [] }
}
