import type { Analyte, OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import { seededRandom } from '../../../platform/seeded-random.ts'
import { ageOn } from '../../../platform/time.ts'
import { simulateResults } from '../../adapters/simulator/values.ts'
import type { Message, Segment } from '../codec/rules-message.ts'
import { fieldOf, readValue, segmentOf } from '../codec/rules-read.ts'
import { formatTime, parseDay } from '../codec/rules-time.ts'
import { message, segment } from '../codec/rules-write.ts'
import { hasStructures } from '../messages/rules-header.ts'
import type { Profile } from '../profiles/rules-profile.ts'

export const reportKinds = ['partial', 'final', 'corrected', 'reflex'] as const
export type ReportKind = (typeof reportKinds)[number]

const plans: ReportKind[][] = [['final'], ['partial', 'final'], ['partial', 'final', 'corrected'], ['final', 'reflex']]

/** The reports that follow an order. The same seed and number give the same ones. */
export const planOf = (seed: string, number: string): ReportKind[] =>
  plans[Math.floor(seededRandom(seed, 'plan', number)() * plans.length)] ?? ['final']

export type Reporting = {
  profile: Profile
  kind: ReportKind
  control_id: string
  sent_at: string
  seed: string
  measurements: OrderedMeasurements
  /** The LOINC code of the one result of a test that the catalog does not have. */
  code?: string | undefined
  /** Names another patient. */
  isWrongPatient?: boolean | undefined
}

/** The results of an order message, ORU^R01, as a lab with this profile writes them. */
export function reportMessage(order: Message, reporting: Reporting): Message {
  const { kind, control_id, sent_at, profile } = reporting
  const header = segmentOf(order, 'MSH')
  const version = readValue(header, 12)
  const time = formatTime(sent_at, profile.time_zone, profile.message.time)
  const written = message(
    order.delimiters,
    {
      7: time,
      9: hasStructures(version) ? ['ORU', 'R01', 'ORU_R01'] : ['ORU', 'R01'],
      10: control_id,
      11: readValue(header, 11),
      12: version,
      18: profile.message.declare_charset ? profile.message.charset : null,
    },
    [
      patientOf(order, reporting),
      ...testsOf(order).flatMap((test) => resultSegments(order, test, { ...reporting, time })),
      ...siteSegments(profile),
    ],
  )
  const [msh, ...rest] = written.segments as [Segment, ...Segment[]]
  const fields = [5, 6, 3, 4].reduce((all, place, i) => all.with(i + 2, fieldOf(header, place)), msh.fields)
  return { ...written, segments: [{ ...msh, fields }, ...(kind === 'reflex' ? withReflex(rest, reporting) : rest)] }
}

function patientOf(order: Message, { isWrongPatient }: Reporting): Segment {
  const pid = segmentOf(order, 'PID') as Segment
  return isWrongPatient ? { ...pid, fields: pid.fields.with(4, [[['DOPPELGANGER'], ['SAM']]]).with(6, [[['19010101']]]) } : pid
}

type OrderedTest = { orc: Segment | undefined; obr: Segment }

/** An ORC counts for the OBRs after it. */
function testsOf({ segments }: Message): OrderedTest[] {
  let orc: Segment | undefined
  return segments.flatMap((segment) => {
    if (segment.name === 'ORC') orc = segment
    return segment.name === 'OBR' ? [{ orc, obr: segment }] : []
  })
}

type Writing = Reporting & { time: string }

const groupStatuses = { partial: 'A', final: 'F', corrected: 'C', reflex: 'F' }

function resultSegments(order: Message, { orc, obr }: OrderedTest, writing: Writing): Segment[] {
  const { kind, time } = writing
  const filler = `F${readValue(obr, 2)}`
  const control = segment('ORC', { 1: 'RE', 3: filler, 5: kind === 'partial' ? 'A' : 'CM' })
  const request = segment('OBR', { 1: readValue(obr, 1), 3: filler, 7: readValue(obr, 7) || time, 22: time, 25: groupStatuses[kind] })
  return [
    { ...control, fields: withFields(control, { 2: fieldOf(orc, 2), 4: fieldOf(orc, 4) }) },
    { ...request, fields: withFields(request, { 2: fieldOf(obr, 2), 4: fieldOf(obr, 4) }) },
    ...observationsOf(order, obr, writing),
  ]
}

const withFields = ({ fields }: Segment, places: Record<number, Segment['fields'][number]>) =>
  Object.entries(places).reduce((all, [place, field]) => all.with(Number(place) - 1, field), fields)

/** The measurements of the test in the catalog with simulated values; of another test, one value. */
function observationsOf(order: Message, obr: Segment, writing: Writing): Segment[] {
  const { measurements, kind, seed } = writing
  const codes = [readValue(obr, 4), readValue(obr, 4, 4)]
  const marker = measurements.markers.find(({ provider_id }) => provider_id && codes.includes(provider_id))
  if (!marker) return [observation(writing, { i: 0, code: codeOf(writing, codes), value: '1', status: groupStatuses[kind] })]
  const pid = segmentOf(order, 'PID')
  const simulation = {
    markers: [marker],
    analytes: measurements.analytes,
    seed: `${seed}/${readValue(obr, 2)}`,
    gender: readValue(pid, 8) === 'M' ? 'male' : 'female',
    age: ageOn(parseDay(readValue(pid, 7)) ?? '1980-01-01', writing.sent_at.slice(0, 10)),
    interpretation: 'normal' as const,
  }
  const reported = simulateResults({ ...simulation, version: kind === 'reflex' ? 'final' : kind }).results
  const before = kind === 'corrected' ? simulateResults({ ...simulation, version: 'final' }).results : reported
  return reported.flatMap(({ slug, result }, i) => {
    const analyte = measurements.analytes.find((one) => one.slug === slug)
    const isChanged = before.find((one) => one.slug === slug)?.result !== result
    return analyte ? [analyteSegment(writing, analyte, { i, value: result, status: isChanged ? 'C' : 'F', gender: simulation.gender })] : []
  })
}

const codeOf = ({ code }: Writing, [first = '', second = '']: string[]) =>
  code ? [code, 'Result', 'LN'] : [second || first, 'Result', 'L']

type Valued = { i: number; value: string; status: string }

function analyteSegment(writing: Writing, analyte: Analyte, { gender, ...valued }: Valued & { gender: string }) {
  const local = [analyte.slug, analyte.name, 'L']
  const loinc = [analyte.loinc, analyte.name, 'LN']
  const code = writing.profile.results.local_code_in === 'OBX-3.4' ? [...loinc, ...local] : [...local, ...loinc]
  const range = analyte.reference_range?.[gender === 'male' ? 'male' : 'female']?.text ?? null
  return observation(writing, { ...valued, code, unit: analyte.unit, range })
}

type Written = Valued & { code: string[]; unit?: string | null; range?: string | null }

function observation({ time, profile }: Writing, { i, code, value, unit, range, status }: Written) {
  const isNumber = /^-?\d+(\.\d+)?$/.test(value)
  const site = profile.results.performing_lab_in === 'OBX-23'
  return segment('OBX', {
    1: String(i + 1),
    2: isNumber ? 'NM' : 'ST',
    3: code,
    5: value,
    6: unit,
    7: range,
    11: status,
    14: time,
    15: site ? null : SITE.code,
    23: site ? [SITE.name, 'L', null, null, null, ['CLIA', '2.16.840.1.113883.4.7', 'ISO'], 'XX', null, null, SITE.clia] : null,
    24: site ? [SITE.street, null, SITE.city, SITE.state, SITE.zip] : null,
  })
}

const SITE = {
  code: 'SI',
  name: 'Stand-in Lab',
  street: '1 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  clia: '99D9999999',
}

const siteSegments = ({ results }: Profile) =>
  results.performing_lab_in === 'ZPS'
    ? [segment('ZPS', { 1: '1', 2: SITE.code, 3: SITE.name, 4: [SITE.street, null, SITE.city, SITE.state, SITE.zip], 9: SITE.clia })]
    : []

/** The lab adds a test that nobody ordered, after the last test. */
function withReflex(segments: Segment[], { profile, sent_at }: Reporting): Segment[] {
  const last = segments.findLast(({ name }) => name === 'OBR') as Segment
  const time = formatTime(sent_at, profile.time_zone, profile.message.time)
  const parent = [readValue(last, 2), readValue(last, 3)]
  const writing = { profile, time } as Writing
  return [
    ...segments.filter(({ name }) => name !== 'ZPS'),
    segment('ORC', { 1: 'RE', 3: readValue(last, 3), 5: 'CM' }),
    segment('OBR', { 1: '99', 3: readValue(last, 3), 4: ['REFLEX', 'Reflex test', 'L'], 7: time, 11: 'G', 22: time, 25: 'F', 29: parent }),
    observation(writing, {
      i: 0,
      code: ['18262-6', 'LDL direct', 'LN', 'REFLEX', 'LDL direct', 'L'],
      value: '94',
      unit: 'mg/dL',
      range: '0-99',
      status: 'F',
    }),
    ...siteSegments(profile),
  ]
}
