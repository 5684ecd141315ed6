import { DAY, SECOND } from '../../../../platform/time.ts'
import type { WithingsUser } from './data.ts'

type Found = { scope: string; body: object }
type Form = Record<string, string>
type Row = { modified: number } & Record<string, unknown>

const PAGE_SIZE = 25

/** Parameters of lists besides the action. */
const listParameters = [
  'startdate',
  'enddate',
  'startdateymd',
  'enddateymd',
  'lastupdate',
  'offset',
  'data_fields',
  'meastypes',
  'category',
]

/** Answers a request for data. Undefined if Withings would not accept its parameters. */
export function read(user: WithingsUser, path: string, form: Form): Found | undefined {
  const { action = '', ...parameters } = form
  if (Object.keys(parameters).some((name) => !listParameters.includes(name))) return undefined
  const answers: Record<string, () => Found | undefined> = {
    '/measure getmeas': () => measures(user, parameters),
    '/v2/measure getactivity': () => list(byDay(user.activities, parameters), 'activities', parameters, shownActivity),
    '/v2/measure getintradayactivity': () => intraday(user, parameters),
    '/v2/measure getworkouts': () => list(byDay(user.workouts, parameters), 'series', parameters, shownSession),
    '/v2/sleep getsummary': () => list(byDay(user.nights, parameters), 'series', parameters, shownSession),
    '/v2/sleep get': () => phases(user, parameters),
  }
  return answers[`${path} ${action}`]?.()
}

const ACTIVITY = 'user.activity'

function list<T extends Row>(
  rows: T[] | undefined,
  name: string,
  form: Form,
  show: (row: T, fields: string[]) => object,
): Found | undefined {
  if (!rows) return undefined
  const fields = (form['data_fields'] ?? '').split(',')
  return {
    scope: ACTIVITY,
    body: page(
      rows.map((row) => show(row, fields)),
      name,
      form,
    ),
  }
}

function page(rows: object[], name: string, { offset = '0' }: Form) {
  const end = Number(offset) + PAGE_SIZE
  return { [name]: rows.slice(Number(offset), end), more: end < rows.length, offset: end < rows.length ? end : 0 }
}

function measures(user: WithingsUser, form: Form): Found | undefined {
  const { startdate, enddate, lastupdate, meastypes = '' } = form
  if (!lastupdate && !(Number(startdate) <= Number(enddate))) return undefined
  const types = meastypes.split(',').map(Number)
  const isWithin = ({ date, modified }: { date: number; modified: number }) =>
    lastupdate ? modified >= Number(lastupdate) : date >= Number(startdate) && date <= Number(enddate)
  const groups = user.groups
    .filter(isWithin)
    .map(({ id: grpid, timezone: _, measures, ...group }) => ({
      ...{ grpid, ...group, created: group.date, category: 1, deviceid: 'device-1', hash_deviceid: 'device-1', model: 'Body+' },
      measures: measures.filter(({ type }) => types.includes(type)),
    }))
    .filter(({ measures }) => measures.length)
  const timezone = user.groups[0]?.timezone ?? 'UTC'
  return { scope: 'user.metrics', body: { updatetime: 0, timezone, ...page(groups, 'measuregrps', form) } }
}

/** The rows of days, or those that changed. Undefined without a range. */
function byDay<T extends Row & { date: string }>(rows: T[], { startdateymd, enddateymd, lastupdate }: Form) {
  if (lastupdate) return rows.filter(({ modified }) => modified >= Number(lastupdate))
  if (!startdateymd || !enddateymd || enddateymd < startdateymd) return undefined
  return rows.filter(({ date }) => date >= startdateymd && date <= enddateymd)
}

const alwaysShown = ['date', 'timezone', 'modified', 'brand', 'is_tracker', 'deviceid']

/** Fields that were not asked for are missing. */
const only = (row: object, fields: string[]) => Object.fromEntries(Object.entries(row).filter(([name]) => fields.includes(name)))

const shownActivity = (row: object, fields: string[]) => only(row, [...alwaysShown, ...fields])

const shownSession = ({ data, ...row }: Row, fields: string[]) => ({ ...row, data: only(data as object, fields) })

/** Only the first 24 hours are answered. */
function intraday(user: WithingsUser, { startdate, enddate, data_fields = '' }: Form): Found | undefined {
  const [from, to] = [Number(startdate), Math.min(Number(enddate), Number(startdate) + DAY / SECOND)]
  if (!(from <= to)) return undefined
  const rows = Object.entries(user.intraday).filter(([second]) => Number(second) >= from && Number(second) <= to)
  const series = Object.fromEntries(rows.map(([second, row]) => [second, only(row, data_fields.split(','))]))
  return { scope: ACTIVITY, body: { series: rows.length ? series : [] } }
}

function phases(user: WithingsUser, { startdate, enddate, data_fields = '' }: Form): Found | undefined {
  const [from, to] = [Number(startdate), Math.min(Number(enddate), Number(startdate) + DAY / SECOND)]
  if (!(from <= to)) return undefined
  const found = user.phases.filter((phase) => phase.startdate >= from && phase.enddate <= to)
  const series = found.map((phase) => only(phase, ['startdate', 'enddate', 'state', ...data_fields.split(',')]))
  return { scope: ACTIVITY, body: { model: 16, series } }
}
