import type { Segment } from '../codec/rules-message.ts'
import { formatTime } from '../codec/rules-time.ts'
import { type Cell, componentsOf, segment, withSuffix } from '../codec/rules-write.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { fitting } from './rules-lengths.ts'
import type { OrderedTest, Position, Writing } from './rules-order.ts'
import { inCharset, linesInCharset, providerOf } from './rules-people.ts'

/** ORC: the action, the numbers of the order and the physician. */
export function orderControl(writing: Writing, { number }: Position) {
  const { profile, order, envelope } = writing
  const { number_suffix, abn, number_per_test } = profile.order
  return segment('ORC', {
    1: envelope.action,
    2: withSuffix(number, number_suffix),
    3: order.filler_number,
    4: number_per_test ? withSuffix(order.number, number_suffix) : null,
    9: timeIn(profile, envelope.action === 'NW' ? order.ordered_at : envelope.sent_at),
    12: providerOf(writing),
    20: abn && (order.has_abn ? abn.signed : abn.none),
  })
}

/** OBR and the segments that belong to a test. A cancellation needs only the test itself. */
export function testSegments(writing: Writing, test: OrderedTest, position: Position): Segment[] {
  const { profile, envelope } = writing
  if (envelope.action === 'CA') return [requestSegment(writing, test, position)]
  return [
    ...(profile.order.priority.in === 'TQ1-9' ? [segment('TQ1', { 1: '1', 9: priorityOf(writing) })] : []),
    requestSegment(writing, test, position),
    ...(profile.order.clinical_notes_in === 'NTE' ? noteSegments(writing) : []),
    ...(profile.diagnosis.position === 'after_test' ? diagnosisSegments(writing, test.diagnoses) : []),
    ...answerSegments(writing, test),
    ...fastingSegments(writing, position),
    ...specimenSegments(writing, test),
  ]
}

function requestSegment(writing: Writing, test: OrderedTest, { i, number }: Position) {
  const { profile, order, envelope } = writing
  const isNew = envelope.action === 'NW'
  const { action_code, priority, clinical_notes_in, specimen_in, specimens, number_suffix } = profile.order
  return segment('OBR', {
    1: String(i + 1),
    2: withSuffix(number, number_suffix),
    3: order.filler_number,
    4: testCode(profile, test),
    5: priority.in === 'OBR-5' ? priorityOf(writing) : null,
    7: order.collected_at && timeIn(profile, order.collected_at),
    11: action_code,
    13: isNew && clinical_notes_in === 'OBR-13' && order.clinical_notes ? inCharset(profile, order.clinical_notes) : null,
    15: specimen_in === 'OBR-15' ? [specimens[test.sample_type].split('^')] : null,
    16: providerOf(writing),
    18: profile.billing.type_in.includes('OBR-18') ? profile.billing.types[order.billing_type] : null,
    27: priority.in === 'OBR-27.6' ? [null, null, null, null, null, priorityOf(writing)] : null,
  })
}

function testCode(profile: Profile, { code, name, loinc }: OrderedTest): Cell {
  const { local_code_in, system, loinc: sendsLoinc } = profile.order.test_code
  const local = [code, inCharset(profile, name), system]
  const standard = sendsLoinc && loinc ? [loinc, inCharset(profile, name), 'LN'] : []
  if (local_code_in === 'OBR-4.4') return [...(standard.length ? standard : [null, null, null]), ...local]
  return [...local, ...standard]
}

const priorityOf = ({ profile, order }: Writing) => (order.priority ? profile.order.priority.stat : profile.order.priority.routine)

const noteSegments = ({ profile, order }: Writing) =>
  order.clinical_notes ? [segment('NTE', { 1: '1', 2: 'P', 3: linesInCharset(profile, order.clinical_notes) })] : []

export const diagnosisSegments = ({ profile, envelope }: Writing, diagnoses: OrderedTest['diagnoses']): Segment[] =>
  envelope.action === 'CA'
    ? []
    : diagnoses.map(({ code, text }, i) => {
        const { method, system, text_in, type } = profile.diagnosis
        const description = text && inCharset(profile, text)
        const others = `${code}^^${system}`.length
        return segment('DG1', {
          1: String(i + 1),
          2: method,
          3: text_in === 'DG1-3.2' ? [code, description && fitting(profile, 'DG1', 3, description, others), system] : [code, null, system],
          4: text_in === 'DG1-4' && description ? fitting(profile, 'DG1', 4, description) : null,
          6: type,
        })
      })

type Question = OrderedTest['answers'][number]

/** The AoE answers of a test as OBX, and the notes and the specimen if the lab asks for them in the same way. */
function answerSegments(writing: Writing, test: OrderedTest): Segment[] {
  const { profile, order } = writing
  const { notes_question, specimen_question } = profile.aoe
  const extra = (question: string | null, text: string, value: string | null): Question[] =>
    question && value ? [{ question, text, answers: [{ code: null, text: value }], is_number: false }] : []
  const questions = [
    ...test.answers,
    ...extra(notes_question, 'CLINICAL INFORMATION', order.clinical_notes),
    ...extra(specimen_question, 'SPECIMEN SOURCE', profile.order.specimens[test.sample_type].split('^')[1] ?? null),
  ]
  return questions.map((question, i) => answerSegment(writing, question, i + 1))
}

function answerSegment({ profile, order }: Writing, { question, text, answers, is_number }: Question, position: number) {
  const { value_types, status, nature, observation_type, question_system } = profile.aoe
  const isCoded = value_types === 'coded' && answers.every(({ code }) => code)
  const type = is_number ? 'NM' : isCoded ? 'CWE' : 'ST'
  const values: Cell[] = answers.map(({ code, text }) =>
    isCoded ? [code, inCharset(profile, text), question_system] : inCharset(profile, code ?? text),
  )
  return segment('OBX', {
    1: String(position),
    2: type,
    3: [question, inCharset(profile, text), question_system],
    5: { repetitions: values },
    10: nature,
    11: status,
    14: value_types === 'coded' && order.collected_at ? timeIn(profile, order.collected_at) : null,
    29: observation_type,
  })
}

const fastingSegments = ({ profile, order }: Writing, { i }: Position) =>
  profile.aoe.fasting_in === 'ZCI-4' && i === 0 ? [segment('ZCI', { 4: order.fasting ? 'Y' : 'N' })] : []

const specimenSegments = ({ profile, order }: Writing, { sample_type }: OrderedTest) =>
  profile.order.specimen_in === 'SPM'
    ? [
        segment('SPM', {
          1: '1',
          2: order.number,
          4: componentsOf(profile.order.specimens[sample_type]),
          17: order.collected_at && timeIn(profile, order.collected_at),
        }),
      ]
    : []

const timeIn = ({ time_zone, message }: Profile, instant: string) => formatTime(instant, time_zone, message.time)
