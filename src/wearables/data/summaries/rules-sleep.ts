import { type NewSummary, stageCodes } from '../../../contract/wearables/new-summaries.ts'
import { localDay, parseInstant } from '../../time/rules.ts'
import { isoOf } from '../rules-present.ts'
import type { IncomingSample } from '../samples/rules-merge.ts'
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

type Stage = { code: number; from: number; to: number }
type Session = ReturnType<typeof sessionOf>

const LONG_SLEEP_SECONDS = 3 * 3600

/** Builds a sleep, its cycle and hypnogram if stages were sent, and the embedded samples. */
export function buildSleep(item: NewSummary<'sleep'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const session = sessionOf(context, reportFault, ['start_date', item.start_date], ['end_date', item.end_date])
  const stages = stagesOf(item.sleep_stages, session, context, reportFault)
  const recorder = recorderOf(item, context, reportFault)
  // A night belongs to the day on which the user woke up.
  const calendar_date = localDay(session.to, session.endZone)
  const external = item.id ?? isoOf(session.from)
  const period = { from: session.from, to: session.to }
  const sleep: Draft = {
    ...{ resource: 'sleep', external, calendar_date, period, raw, ...recorder },
    fields: { ...datesOf(calendar_date, session), ...durationsOf(stages, session, item), ...vitalsOf(item) },
  }
  const { samples } = context
  if (!stages.length) return { drafts: [sleep], samples }
  const cycle: Draft = {
    ...sleep,
    resource: 'sleep_cycle',
    fields: cycleOf(context.idOf('sleep', external), stages, session, context.time_zone),
  }
  const hypnogram = stages.map((stage) => stageSample(stage, session, recorder))
  return { drafts: [sleep, cycle], samples: [...samples, { name: 'hypnogram', field: 'sleep_stages', samples: hypnogram }] }
}

const datesOf = (calendar_date: string, { from, to, zone }: Session) => ({
  ...{ calendar_date, date: `${calendar_date}T00:00:00.000Z`, timezone_offset: zone },
  ...{ bedtime_start: isoOf(from), bedtime_stop: isoOf(to) },
})

function durationsOf(stages: Stage[], { from, to }: Session, item: NewSummary<'sleep'>) {
  const { type, latency } = item
  const seconds = (...codes: number[]) =>
    Math.round(stages.filter(({ code }) => codes.includes(code)).reduce((sum, stage) => sum + stage.to - stage.from, 0) / 1000)
  const duration = Math.round((to - from) / 1000)
  const { deep, light, rem, awake, manual } = stageCodes
  const total = item.total ?? (stages.length ? seconds(deep, light, rem, manual) : duration)
  const hasTotal = stages.length > 0 || typeof item.total === 'number'
  const firstAsleep = stages.find(({ code }) => code !== awake && code !== stageCodes.missing)
  return {
    ...{ duration, total, awake: item.awake ?? seconds(awake), light: item.light ?? seconds(light) },
    ...{ rem: item.rem ?? seconds(rem), deep: item.deep ?? seconds(deep) },
    type: type ?? (duration >= LONG_SLEEP_SECONDS ? 'long_sleep' : 'short_sleep'),
    efficiency: item.efficiency ?? (hasTotal && duration ? Math.round((1000 * total) / duration) / 10 : null),
    latency: latency ?? (firstAsleep ? Math.max(0, Math.round((firstAsleep.from - from) / 1000)) : null),
  }
}

const vitalsOf = (item: NewSummary<'sleep'>) => ({
  score: item.score ?? null,
  recovery_readiness_score: item.recovery_readiness_score ?? null,
  hr_lowest: roundOrNull(item.heart_rate_minimum),
  hr_average: roundOrNull(item.heart_rate_mean),
  hr_resting: roundOrNull(item.heart_rate_resting),
  temperature_delta: item.temperature_delta ?? null,
  skin_temperature: item.skin_temperature ?? null,
  hr_dip: item.hr_dip ?? null,
  state: item.state ?? null,
  average_hrv: item.hrv_mean_rmssd ?? item.hrv_mean_sdnn ?? null,
  respiratory_rate: item.respiratory_rate_mean ?? null,
})

type SleepStages = NewSummary<'sleep'>['sleep_stages']

const stageLists = {
  awake_sleep_samples: stageCodes.awake,
  deep_sleep_samples: stageCodes.deep,
  light_sleep_samples: stageCodes.light,
  rem_sleep_samples: stageCodes.rem,
  unspecified_sleep_samples: stageCodes.manual,
} as const

/** Returns the stages in order of time. */
function stagesOf(sleepStages: SleepStages, { from, to }: Session, { now }: BuildContext, reportFault: ReportFault): Stage[] {
  const spans = Array.isArray(sleepStages)
    ? sleepStages.map(({ stage, ...span }) => ({ ...span, code: stageCodes[stage] }))
    : Object.entries(stageLists).flatMap(([name, code]) =>
        (sleepStages?.[name as keyof typeof stageLists] ?? []).map((span) => ({ ...span, code })),
      )
  const stages = spans.map(({ code, start_date, end_date }) => {
    const stage = { code, from: parseRecordedAt(start_date, 'sleep_stages', now, reportFault), to: parseInstant(end_date) }
    if (!(stage.to >= stage.from)) reportFault('sleep_stages', 'A stage must not end before it starts.')
    if (stage.from < from || stage.to > to) reportFault('sleep_stages', 'A stage must be within the sleep session.')
    return stage
  })
  return stages.sort((a, b) => a.from - b.from || a.to - b.to || a.code - b.code)
}

const cycleOf = (sleep_id: string, stages: Stage[], { from, to }: Session, time_zone: string | null) => ({
  ...{ sleep_id, session_start: isoOf(from), session_end: isoOf(to), time_zone },
  stage_start_offset_second: stages.map((stage) => Math.round((stage.from - from) / 1000)),
  stage_end_offset_second: stages.map((stage) => Math.round((stage.to - from) / 1000)),
  stage_type: stages.map(({ code }) => code),
})

const stageSample = (
  { code, from, to }: Stage,
  { zone }: Session,
  { source_type, version }: { source_type: string; version: number | null },
): IncomingSample => ({
  ...{ at: from, end: to, type: source_type === 'unknown' ? '' : source_type, value: code, second: 0, text: '', zone, version, more: '' },
})

/** Builds a sleep cycle that was pushed without its sleep. */
export function buildSleepCycle(item: NewSummary<'sleep_cycle'>, raw: unknown, context: BuildContext, reportFault: ReportFault): BuiltItem {
  const session = sessionOf(context, reportFault, ['session_start', item.session_start], ['session_end', item.session_end])
  const { stage_start_offset_second, stage_end_offset_second, stage_type } = item
  const counts = [stage_start_offset_second, stage_end_offset_second, stage_type].map((list) => list.length)
  if (new Set(counts).size > 1) reportFault('stage_type', 'The three lists of stages must have the same length.')
  const seconds = Math.ceil((session.to - session.from) / 1000)
  if (stage_end_offset_second.some((end, i) => end < (stage_start_offset_second[i] ?? 0)))
    reportFault('stage_end_offset_second', 'A stage must not end before it starts.')
  if (stage_end_offset_second.some((end) => end > seconds))
    reportFault('stage_end_offset_second', 'A stage must be within the sleep session.')
  const external = item.sleep_id ?? item.id ?? isoOf(session.from)
  const fields = {
    ...{
      sleep_id: context.idOf('sleep', external),
      session_start: isoOf(session.from),
      session_end: isoOf(session.to),
      time_zone: context.time_zone,
    },
    ...{ stage_start_offset_second, stage_end_offset_second, stage_type },
  }
  const calendar_date = localDay(session.to, session.endZone)
  const period = { from: session.from, to: session.to }
  return {
    drafts: [{ resource: 'sleep_cycle', external, calendar_date, period, fields, raw, ...recorderOf(item, context, reportFault) }],
    samples: [],
  }
}
