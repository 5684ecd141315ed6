import { z } from 'zod'
import { DAY } from '../../../../platform/time.ts'
import { pageOf, type Response } from '../../stand-in/server.ts'
import { civilOf, civilText, type GoogleUser, type StoredPoint } from './data.ts'

const scope = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`

/** The scopes that the consent page knows. */
export const scopes = [
  'activity_and_fitness',
  'health_metrics_and_measurements',
  'sleep',
  'ecg',
  'irn',
  'location',
  'profile',
  'settings',
].map(scope)

const activityTypes =
  'steps distance floors active-energy-burned total-calories active-minutes exercise vo2-max run-vo2-max daily-vo2-max'.split(' ')
const metricTypes =
  'heart-rate heart-rate-variability oxygen-saturation weight height body-fat blood-glucose core-body-temperature respiratory-rate-sleep-summary daily-resting-heart-rate daily-heart-rate-variability daily-respiratory-rate daily-sleep-temperature-derivations daily-oxygen-saturation'.split(
    ' ',
  )

/** The scope of each type. */
const scopeOf = new Map([
  ...activityTypes.map((type) => [type, scope('activity_and_fitness')] as const),
  ...metricTypes.map((type) => [type, scope('health_metrics_and_measurements')] as const),
  ['sleep', scope('sleep')] as const,
  ['electrocardiogram', scope('ecg')] as const,
])

export const error = (code: number, status: string, message: string): Response => ({
  status: code,
  body: { error: { code, status, message } },
})
const invalid = (message: string) => error(400, 'INVALID_ARGUMENT', message)

/** Refuses a type that the cloud does not have, or that the user did not grant. */
export function refusalOf(type: string, granted: string[]): Response | undefined {
  const needed = scopeOf.get(type)
  if (!needed) return error(404, 'NOT_FOUND', 'Unknown data type.')
  return granted.includes(needed) ? undefined : error(403, 'PERMISSION_DENIED', 'The scope was not granted.')
}

const camelCase = (type: string) => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const sessions = ['sleep', 'exercise', 'electrocardiogram']
const MAX_PAGE = 10_000
const MAX_SESSIONS = 25

type Query = Record<string, string>

/** `dataPoints` lists points as they are, and `dataPoints:reconcile` one stream of a family. */
export function listPoints(user: GoogleUser, type: string, isReconciled: boolean, query: Query): Response {
  const { filter, pageSize = '1440', pageToken, dataSourceFamily, ...unknown } = query
  if (Object.keys(unknown).length) return invalid(`Unknown parameter: ${Object.keys(unknown).join(', ')}`)
  if (dataSourceFamily !== undefined && !isReconciled) return invalid('dataSourceFamily is for reconcile only.')
  const matches = filter === undefined ? () => true : parseFilter(type, filter)
  const families = familiesOf(dataSourceFamily)
  if (!matches || !families || !(Number(pageSize) > 0)) return invalid('The filter, the family or the page size is not valid.')
  const stored = [...(user.points.get(type)?.values() ?? [])]
  const found = stored.filter((point) => matches(point) && (!isReconciled || families.includes(point.family))).sort((a, b) => b.at - a.at)
  const page = pageOf(found, pageToken, Math.min(Number(pageSize), sessions.includes(type) ? MAX_SESSIONS : MAX_PAGE))
  if (!page) return invalid('The page token is not valid.')
  return {
    status: 200,
    body: { dataPoints: page.items.map((point) => present(user, type, point, isReconciled)), nextPageToken: page.next ?? '' },
  }
}

function present(user: GoogleUser, type: string, { id, value, family }: StoredPoint, isReconciled: boolean) {
  const name = sessions.includes(type) ? `users/${user.id}/dataTypes/${type}/dataPoints/${id}` : ''
  if (isReconciled) return { ...(name ? { dataPointName: name } : {}), [camelCase(type)]: value }
  const dataSource = family === 'others' ? { platform: 'HEALTH_CONNECT', recordingMethod: 'UNKNOWN' } : watch
  return { ...(name ? { name } : {}), dataSource, [camelCase(type)]: value }
}

const watch = { platform: 'FITBIT', recordingMethod: 'PASSIVELY_MEASURED', device: { displayName: 'Tidemark', formFactor: 'WATCH' } }

function familiesOf(name: string | undefined): StoredPoint['family'][] | undefined {
  const families: Record<string, StoredPoint['family'][]> = {
    'all-sources': ['wearables', 'sources', 'others'],
    'google-wearables': ['wearables'],
    'google-sources': ['wearables', 'sources'],
  }
  return families[name === undefined ? 'all-sources' : name.replace(/^users\/me\/dataSourceFamilies\//, '')]
}

const TERM = /^([a-z0-9_]+)\.([a-z_.]+) (>=|<) "([^"]+)"$/

/** The filter grammar of the cloud. Undefined if it refuses the filter. */
function parseFilter(type: string, filter: string): ((point: StoredPoint) => boolean) | undefined {
  const terms = filter.split(' AND ').map((term) => TERM.exec(term))
  const tests = terms.map((term) => {
    const [, name, field = '', operator, literal = ''] = term ?? []
    const read = name === type.replaceAll('-', '_') ? fieldsOf(type)[field] : undefined
    if (!read?.form.test(literal) || (type === 'electrocardiogram' && operator === '<')) return undefined
    const bound = read.key(literal)
    return (point: StoredPoint) => (operator === '<' ? read.of(point) < bound : read.of(point) >= bound)
  })
  if (tests.some((test) => !test)) return undefined
  return (point) => tests.every((test) => test?.(point))
}

type Field = { form: RegExp; key(literal: string): string; of(point: StoredPoint): string }

const DATE = /^\d{4}-\d{2}-\d{2}$/
const CIVIL = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2})?$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

const instant = (of: (point: StoredPoint) => number): Field => ({
  ...{ form: INSTANT, key: (literal) => new Date(literal).toISOString(), of: (point) => new Date(of(point)).toISOString() },
})
const civil = (of: (point: StoredPoint) => number): Field => ({
  ...{ form: CIVIL, key: (literal) => (DATE.test(literal) ? `${literal}T00:00:00` : literal), of: (point) => civilText(of(point)) },
})
const date: Field = { form: DATE, key: (literal) => literal, of: ({ at }) => civilText(at).slice(0, 10) }

/** The fields that a filter of each type may name. */
function fieldsOf(type: string): Record<string, Field> {
  const [start, end] = [({ at }: StoredPoint) => at, (point: StoredPoint) => point.end]
  if (type.startsWith('daily-')) return { date }
  if (type === 'sleep') return { 'interval.end_time': instant(end), 'interval.civil_end_time': civil(end) }
  if (type === 'exercise') return { 'interval.civil_start_time': civil(start) }
  if (type === 'electrocardiogram') return { 'interval.start_time': instant(start) }
  if (['steps', 'distance', 'floors', 'active-energy-burned'].includes(type))
    return { 'interval.start_time': instant(start), 'interval.civil_start_time': civil(start) }
  return { 'sample_time.physical_time': instant(start), 'sample_time.civil_time': civil(start) }
}

const CivilDate = z.strictObject({ year: z.int(), month: z.int(), day: z.int() })
const CivilTime = z.strictObject({ date: CivilDate, time: z.unknown().optional() })
const RollUpRequest = z.strictObject({
  range: z.strictObject({ start: CivilTime, end: CivilTime }),
  windowSizeDays: z.int().optional(),
  pageSize: z.int().optional(),
  pageToken: z.string().optional(),
  dataSourceFamily: z.string().optional(),
})

const shortRanges = ['heart-rate', 'active-minutes', 'total-calories', 'calories-in-heart-rate-zone']

/** The sums of each civil day that has data. */
export function rollUpDays(user: GoogleUser, type: string, json: unknown): Response {
  const { data: request } = RollUpRequest.safeParse(json)
  const sum = sums[type]
  const families = familiesOf(request?.dataSourceFamily)
  if (!request || !sum || !families) return invalid('The roll-up is not valid.')
  const [from, to] = [dayOf(request.range.start.date), dayOf(request.range.end.date)]
  const days = (Date.parse(to) - Date.parse(from)) / DAY
  if (!(days > 0) || days > (shortRanges.includes(type) ? 14 : 90)) return invalid('The range is too long.')
  const points = [...(user.points.get(sum.of ?? type)?.values() ?? [])].filter(({ family }) => families.includes(family))
  const byDay = Map.groupBy(points, ({ at }) => civilText(at).slice(0, 10))
  const rollupDataPoints = [...byDay]
    .filter(([day]) => day >= from && day < to)
    .map(([, list]) => {
      const { at } = list[0] as StoredPoint
      const midnight = { hours: 0 }
      return {
        civilStartTime: { date: civilOf(at).date, time: midnight },
        civilEndTime: { date: civilOf(at + DAY).date, time: midnight },
        ...sum.value(list),
      }
    })
  return { status: 200, body: { rollupDataPoints } }
}

const dayOf = ({ year, month, day }: z.output<typeof CivilDate>) => new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)

const total = (points: StoredPoint[], field: string) => points.reduce((sum, { value }) => sum + Number(value[field]), 0)

const BASAL_KCAL = 1600

const sums: Record<string, { of?: string; value(points: StoredPoint[]): object }> = {
  steps: { value: (points) => ({ steps: { countSum: String(total(points, 'count')) } }) },
  floors: { value: (points) => ({ floors: { countSum: String(total(points, 'count')) } }) },
  distance: { value: (points) => ({ distance: { millimetersSum: String(total(points, 'millimeters')) } }) },
  'active-energy-burned': { value: (points) => ({ activeEnergyBurned: { kcalSum: total(points, 'kcal') } }) },
  'total-calories': { of: 'active-energy-burned', value: (points) => ({ totalCalories: { kcalSum: total(points, 'kcal') + BASAL_KCAL } }) },
  'active-minutes': {
    of: 'steps',
    value: () => ({
      activeMinutes: {
        activeMinutesRollupByActivityLevel: [
          { activityLevel: 'LIGHT', activeMinutesSum: '180' },
          { activityLevel: 'MODERATE', activeMinutesSum: '30' },
          { activityLevel: 'VIGOROUS', activeMinutesSum: '10' },
        ],
      },
    }),
  },
  'heart-rate': {
    value: (points) => {
      const rates = points.map(({ value }) => Number(value['beatsPerMinute']))
      return {
        heartRate: {
          beatsPerMinuteAvg: rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
          beatsPerMinuteMin: Math.min(...rates),
          beatsPerMinuteMax: Math.max(...rates),
        },
      }
    },
  },
}
