import type { Fault } from '../../../contract/faults.ts'
import { faultsOf } from '../../../contract/faults.ts'
import type { Series } from '../../../contract/wearables/series.ts'
import { invalid, Problem } from '../../../platform/problem.ts'
import { DAY } from '../../../platform/time.ts'
import { parseInstant, zoneIn } from '../../time/rules.ts'
import type { IncomingSample } from './rules-merge.ts'

export const MAX_SAMPLES = 100_000
const MAX_FAULTS = 20
const MAX_NOTE_LENGTH = 2000
const MAX_DURATION_MS = 31 * DAY
const EARLIEST = Date.parse('1900-01-01T00:00:00Z')

export type ParseContext = {
  /** The location of the list in the body. */
  loc: Fault['loc']
  /** The UTC offset for samples without one, in seconds. */
  zoneAt(at: number): number | null
  now: number
  /** The version of samples without modified_at. */
  version: number | null
  /** The type of samples without one. */
  type?: string | undefined
}

type RawSample = Record<string, unknown>
type ReportFault = (field: string, msg: string, type?: Fault['type']) => void

/** The samples between two pauses. */
const SAMPLES_PER_STEP = 250

/**
 * Parses pushed samples. Reports up to 20 faults; a push with a fault is rejected, and one that covers an implausible number of days or
 * origins.
 */
export function* readSamples(row: Series, data: readonly unknown[], context: ParseContext) {
  const { loc } = context
  if (data.length > MAX_SAMPLES) throw invalid(loc, `Send at most ${MAX_SAMPLES.toLocaleString('en')} samples per request.`, 'too_big')
  const faults: Fault[] = []
  const samples: IncomingSample[] = []
  const serializeExtras = extrasSerializer(row)
  const spread = newSpread(row)
  const read = row.valueKind === 'pair' ? readPair : readSample
  let i = 0
  const reportFault: ReportFault = (field, msg, type = 'value_error') =>
    faults.push({ type, loc: [...loc, i, ...(field ? field.split('.') : [])], msg })
  const reportExtras = (found: Fault[]) => faults.push(...found.map((fault) => ({ ...fault, loc: [...loc, i, ...fault.loc.slice(1)] })))
  for (; i < data.length && faults.length < MAX_FAULTS; i++) {
    if (i && i % SAMPLES_PER_STEP === 0) yield
    const raw = data[i] as RawSample
    if (!raw || typeof raw !== 'object' || Array.isArray(raw)) reportFault('', 'Must be an object.', 'type_error')
    else {
      const sample = read(row, raw, context, reportFault)
      if (!sample) continue
      sample.more = serializeExtras(raw, reportExtras)
      spread.add(sample)
      samples.push(sample)
    }
  }
  if (faults.length) throw new Problem('invalid', faults)
  spread.check(loc)
  return samples
}

export const MAX_DAYS = 4000
const MAX_ORIGINS = 100

/** Collects the days and origins of samples. */
function newSpread({ types, extraFields }: Series) {
  const days = new Set<number>()
  const origins = new Set<string>()
  const isPlain = !Object.keys(extraFields.shape).length
  let last: IncomingSample | undefined
  return {
    add(sample: IncomingSample) {
      const { at, type, more: extras } = sample
      days.add(Math.floor(at / DAY))
      if (last?.type !== type || last.more !== extras) origins.add(`${types ? '' : type} ${isPlain ? extras : originOf(extras)}`)
      last = sample
    },
    check(loc: Fault['loc']) {
      if (days.size > MAX_DAYS) throw invalid(loc, `Send samples of at most ${MAX_DAYS} days per request.`, 'too_big')
      if (origins.size > MAX_ORIGINS)
        throw invalid(loc, `Send samples of at most ${MAX_ORIGINS} types, apps and devices per request.`, 'too_big')
    },
  }
}

function originOf(extras: string) {
  const { app_id, device } = (extras ? JSON.parse(extras) : {}) as { app_id?: string; device?: string }
  return `${app_id} ${device}`
}

function readSample(row: Series, raw: RawSample, context: ParseContext, reportFault: ReportFault, where = ''): IncomingSample | undefined {
  const at = readInstant(raw, 'start_date', context.now, reportFault, where)
  const end = readEnd(raw, at, context, reportFault, where)
  const zone = readZone(raw, at, context, reportFault, where)
  const value = row.valueKind === 'text' ? 0 : readValue(row, raw, reportFault, where)
  const text = row.valueKind === 'text' ? readNote(raw, reportFault) : ''
  const type = readType(row, raw, context, reportFault, where)
  const version = readVersion(raw, context, reportFault, where)
  if (at === undefined || end === undefined || zone === undefined || version === undefined) return undefined
  if (value === undefined || text === undefined || type === undefined) return undefined
  return { at, end: row.interval ? end : at, type, value, second: 0, text, zone, version, more: '' }
}

/** Parses blood pressure. The sample takes the time of the systolic value. */
function readPair(row: Series, raw: RawSample, context: ParseContext, reportFault: ReportFault): IncomingSample | undefined {
  const [systolic, diastolic] = ['systolic', 'diastolic'].map((name) => {
    const part = raw[name]
    if (part && typeof part === 'object')
      return readSample(row, { ...sharedFields(raw), ...(part as RawSample) }, context, reportFault, `${name}.`)
    reportFault(name, 'Must be a sample, with value and start_date.', part === undefined ? 'missing' : 'type_error')
    return undefined
  })
  if (!systolic || !diastolic) return undefined
  return { ...systolic, second: diastolic.value, more: '' }
}

/** Fields next to the pair apply to both values. */
function sharedFields({ systolic: _, diastolic: __, pulse: ___, ...rest }: RawSample) {
  return rest
}

function readEnd(raw: RawSample, at: number | undefined, { now }: ParseContext, reportFault: ReportFault, where: string) {
  if (raw['end_date'] === undefined || raw['end_date'] === null || raw['end_date'] === raw['start_date']) return at
  const end = readInstant(raw, 'end_date', now, reportFault, where)
  if (end === undefined || at === undefined) return undefined
  if (end >= at && end - at <= MAX_DURATION_MS) return end
  reportFault(`${where}end_date`, end < at ? 'Must not be before start_date.' : 'A sample can last at most 31 days.')
  return undefined
}

function readInstant(raw: RawSample, field: string, now: number, reportFault: ReportFault, where: string) {
  const at = parseInstant(raw[field])
  if (at >= EARLIEST && at <= now + DAY) return at
  if (raw[field] === undefined) reportFault(where + field, 'This field is required.', 'missing')
  else if (Number.isNaN(at)) reportFault(where + field, 'Must be a date-time with a zone, such as 2026-03-01T09:30:00Z.', 'format_error')
  else reportFault(where + field, at < EARLIEST ? 'Must be 1900-01-01 or later.' : 'Must not be in the future.')
  return undefined
}

function readZone(raw: RawSample, at: number | undefined, { zoneAt }: ParseContext, reportFault: ReportFault, where: string) {
  const offset = raw['timezone_offset']
  if (at === undefined) return undefined
  if (offset === undefined || offset === null) return zoneIn(raw['start_date'] as string) ?? zoneAt(at)
  if (typeof offset === 'number' && Number.isInteger(offset) && Math.abs(offset) <= 18 * 3600) return offset
  reportFault(`${where}timezone_offset`, 'Must be an offset from UTC in whole seconds, at most 18 hours.')
  return undefined
}

function readValue({ unitFactors, unit, least, most }: Series, raw: RawSample, reportFault: ReportFault, where: string) {
  const factor = factorOf(unitFactors, raw['unit'])
  const { value } = raw
  if (factor === undefined) reportFault(`${where}unit`, `Must be one of ${Object.keys(unitFactors).join(', ')}. Default: ${unit}.`, 'enum')
  else if (typeof value !== 'number') reportFault(`${where}value`, 'Must be a number.', value === undefined ? 'missing' : 'type_error')
  // Adding 0 turns -0 into 0.
  else if (value * factor >= least && value * factor <= most) return factor === 1 ? value + 0 : value * factor
  else reportFault(`${where}value`, `Must be between ${least} and ${most} ${unit}.`)
  return undefined
}

function factorOf(unitFactors: Series['unitFactors'], unit: unknown) {
  if (unit === undefined || unit === null) return 1
  if (typeof unit !== 'string') return undefined
  if (Object.hasOwn(unitFactors, unit)) return unitFactors[unit]
  const normalized = unit.trim().toLowerCase()
  return Object.hasOwn(unitFactors, normalized) ? unitFactors[normalized] : undefined
}

function readNote({ value }: RawSample, reportFault: ReportFault) {
  if (typeof value === 'string' && value.length <= MAX_NOTE_LENGTH) return value
  reportFault('value', `Must be a string of at most ${MAX_NOTE_LENGTH} characters.`, value === undefined ? 'missing' : 'type_error')
  return undefined
}

function readType({ types, requiresType }: Series, { type }: RawSample, context: ParseContext, reportFault: ReportFault, where: string) {
  const name = type ?? context.type ?? ''
  if (typeof name !== 'string' || name.length > 64) reportFault(`${where}type`, 'Must be a string of at most 64 characters.', 'type_error')
  else if (requiresType && !name) reportFault(`${where}type`, Array.isArray(types) ? oneOf(types) : 'This field is required.', 'missing')
  else if (Array.isArray(types) && name && !types.includes(name)) reportFault(`${where}type`, oneOf(types), 'enum')
  // The type unknown and a missing type are the same key.
  else return types === undefined && name === 'unknown' ? '' : name
  return undefined
}

const oneOf = (types: readonly string[]) => `Must be one of ${types.join(', ')}.`

function readVersion(raw: RawSample, { now, version }: ParseContext, reportFault: ReportFault, where: string) {
  const modified_at = raw['modified_at']
  return modified_at === undefined || modified_at === null ? version : readInstant(raw, 'modified_at', now, reportFault, where)
}

/** Returns a function that serializes app, device and extra fields. It reuses the last result, because samples rarely differ. */
function extrasSerializer({ extraFields, valueKind }: Series) {
  const names = Object.keys(extraFields.shape)
  let last: { app: unknown; device: unknown; extras: string } | undefined
  return (raw: RawSample, reportFault: (faults: Fault[]) => void) => {
    const { source_bundle: app, product_type: device } = raw
    if (last && last.app === app && last.device === device && !names.some((name) => raw[name] !== undefined)) return last.extras
    const parsed = extraFields.safeParse(valueKind === 'pair' ? { pulse: pulseOf(raw) } : raw)
    if (!parsed.success) {
      reportFault(faultsOf(parsed.error, 'sample', raw))
      return ''
    }
    const own = Object.entries(parsed.data).filter(([, value]) => value !== undefined && value !== null)
    const extras = serialize({ ...optionalText('app_id', app), ...optionalText('device', device), ...Object.fromEntries(own) })
    if (!own.length) last = { app, device, extras }
    return extras
  }
}

/** The pulse is a sample or a number. */
const pulseOf = ({ pulse }: RawSample) => (pulse && typeof pulse === 'object' ? (pulse as RawSample)['value'] : pulse)

const optionalText = (name: string, value: unknown) =>
  typeof value === 'string' && value ? { [name]: value.slice(0, 255).toWellFormed() } : {}

const serialize = (extras: object) => (Object.keys(extras).length ? JSON.stringify(extras) : '')
