import type { NewSummary } from '../../../contract/wearables/new-summaries.ts'
import { sportOf } from '../../../contract/wearables/sports.ts'
import { DAY } from '../../../platform/time.ts'
import { localDay, zoneIn } from '../../time/rules.ts'
import { isoOf } from '../rules-present.ts'
import {
  type BuildContext,
  type BuiltItem,
  type Draft,
  parseRecordedAt,
  type ReportFault,
  recorderOf,
  roundOrNull,
  sessionOf,
} from './rules-summary.ts'

export function buildWorkout(item: NewSummary<'workouts'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const { from, to, zone } = sessionOf(context, reportFault, ['start_date', item.start_date], ['end_date', item.end_date])
  const calendar_date = localDay(from, zone)
  const fields = {
    ...{ calendar_date, time_start: isoOf(from), time_end: isoOf(to), timezone_offset: zone, provider_id: item.id },
    title: item.title ?? null,
    sport: sportOf(item.sport),
    average_hr: roundOrNull(item.heart_rate_mean),
    max_hr: roundOrNull(item.heart_rate_maximum),
    ...effortOf(item),
  }
  const draft: Draft = {
    resource: 'workouts',
    external: item.id,
    calendar_date,
    period: { from, to },
    fields,
    raw,
    ...recorderOf(item, context, reportFault),
  }
  return { drafts: [draft], samples: context.samples }
}

const effortOf = (item: NewSummary<'workouts'>) => ({
  ...{ calories: item.calories ?? null, distance: item.distance ?? null, hr_zones: item.hr_zones ?? null },
  ...{ moving_time: item.moving_time ?? null, total_elevation_gain: item.total_elevation_gain ?? null },
  ...{ elev_high: item.elev_high ?? null, elev_low: item.elev_low ?? null },
  ...{ average_speed: item.average_speed ?? null, max_speed: item.max_speed ?? null },
  ...{ average_watts: item.average_watts ?? null, device_watts: item.device_watts ?? null, max_watts: item.max_watts ?? null },
  ...{ weighted_average_watts: item.weighted_average_watts ?? null, steps: item.steps ?? null, map: item.map ?? null },
})

export function buildElectrocardiogram(
  item: NewSummary<'electrocardiogram'>,
  raw: unknown,
  context: BuildContext,
  reportFault: ReportFault,
): BuiltItem {
  const { from, to, zone } = sessionOf(context, reportFault, ['session_start', item.session_start], ['session_end', item.session_end])
  const fields = {
    ...{ session_start: isoOf(from), session_end: isoOf(to), time_zone: context.time_zone },
    voltage_sample_count: item.voltage_sample_count,
    heart_rate_mean: roundOrNull(item.heart_rate_mean),
    sampling_frequency_hz: item.sampling_frequency_hz ?? null,
    classification: item.classification ?? null,
    inconclusive_cause: item.inconclusive_cause ?? null,
    algorithm_version: item.algorithm_version ?? null,
    source_device_model: item.product_type ?? null,
  }
  const calendar_date = localDay(from, zone)
  const recorder = recorderOf(item, context, reportFault)
  return {
    drafts: [
      { resource: 'electrocardiogram', external: item.id ?? isoOf(from), calendar_date, period: { from, to }, fields, raw, ...recorder },
    ],
    samples: [],
  }
}

export function buildMeal(item: NewSummary<'meal'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const at = parseRecordedAt(item.timestamp, 'timestamp', context.now, reportFault)
  const calendar_date = item.calendar_date ?? localDay(at, zoneIn(item.timestamp) ?? context.zoneAt(at))
  const external = item.provider_id ?? item.id ?? `${isoOf(at)} ${item.name}`
  const { energy = null, macros = null, micros = null, data } = item as Record<string, unknown>
  const fields = { calendar_date, timestamp: isoOf(at), name: item.name, energy, macros, micros, data: data ?? {}, provider_id: external }
  return {
    drafts: [
      { resource: 'meal', external, calendar_date, period: { from: at, to: at }, fields, raw, ...recorderOf(item, context, reportFault) },
    ],
    samples: [],
  }
}

const dailyEntries = [
  ...['menstrual_flow', 'cervical_mucus', 'intermenstrual_bleeding', 'contraceptive', 'detected_deviations', 'ovulation_test'],
  ...['home_pregnancy_test', 'home_progesterone_test', 'sexual_activity', 'basal_body_temperature'],
]

type Cycle = Record<string, unknown> & { period_start: string; period_end?: string | null; cycle_end?: string | null }

const YEAR = 366 * DAY

/** The first day of the period identifies a cycle. Only predicted cycles can start in the future. */
export function buildMenstrualCycle(
  item: NewSummary<'menstrual_cycle'>,
  raw: unknown,
  context: BuildContext,
  reportFault: ReportFault,
): BuiltItem {
  const cycle = ('cycle' in item ? item['cycle'] : item) as Cycle
  const { period_start, period_end = null, cycle_end = null, is_predicted } = cycle
  if (period_start < '1900') reportFault('period_start', 'Must be 1900-01-01 or later.')
  if (period_start > localDay(context.now + (is_predicted ? YEAR : DAY), null))
    reportFault('period_start', is_predicted ? 'Must be within a year from now.' : 'Must not be in the future unless is_predicted is true.')
  for (const [field, end] of Object.entries({ period_end, cycle_end }))
    if (end && !(end >= period_start && end <= localDay(context.now + YEAR, null)))
      reportFault(field, 'Must not be before period_start or more than a year ahead.')
  const from = Date.parse(period_start)
  const fields = {
    ...{ period_start, period_end, cycle_end, is_predicted: is_predicted ?? false },
    ...Object.fromEntries(dailyEntries.map((name) => [name, cycle[name] ?? []])),
  }
  const recorder = recorderOf({ ...cycle, source_bundle: item.source_bundle ?? null }, context, reportFault)
  return {
    drafts: [
      {
        resource: 'menstrual_cycle',
        external: period_start,
        calendar_date: period_start,
        period: { from, to: from },
        fields,
        raw,
        ...recorder,
      },
    ],
    samples: [],
  }
}
