import type { AoE } from '../../../contract/labs/catalog.ts'
import { type Finding, fieldError, warning, when } from './rules-findings.ts'

export type Answer = { marker_id: number; question_id: number; answer: string }
export type MarkerQuestions = { id: number; aoe: AoE | null }
type Question = AoE['questions'][number]
type ResolvedAnswer = Answer & { i: number; question: Question | undefined; known: boolean }

/** Finds every error and warning in the AoE answers. */
export function aoeFindings(markers: MarkerQuestions[], answers: Answer[]): Finding[] {
  const given = answers.map((answer, i) => ({ ...answer, i, ...findQuestion(markers, answer) }))
  return [
    ...given.flatMap((answer) => referenceFindings(answer, given)),
    ...given.flatMap(answerFindings),
    ...missingAnswerFindings(markers, answers),
  ]
}

function findQuestion(markers: MarkerQuestions[], { marker_id, question_id }: Answer) {
  const marker = markers.find(({ id }) => id === marker_id)
  return { known: !!marker, question: marker?.aoe?.questions.find(({ id }) => id === question_id) }
}

const sameQuestion = (one: Answer, other: Answer) => one.marker_id === other.marker_id && one.question_id === other.question_id

function referenceFindings(answer: ResolvedAnswer, all: ResolvedAnswer[]): Finding[] {
  const path = ['aoe_answers', answer.i]
  if (!answer.known)
    return [fieldError('aoe_marker_unknown', [...path, 'marker_id'], 'The marker is not part of this order.', 'Remove the answer.')]
  if (!answer.question)
    return [
      fieldError(
        'aoe_question_unknown',
        [...path, 'question_id'],
        'The marker does not ask this question.',
        'Use a question_id from aoe of the marker in GET /v3/lab_tests/markers.',
      ),
    ]
  return when(
    all.some((other) => other.i < answer.i && sameQuestion(other, answer)),
    () =>
      fieldError('aoe_answer_duplicate', path, 'The question is answered twice.', 'Answer it once. Separate several codes with commas.'),
  )
}

function answerFindings({ i, question, answer }: ResolvedAnswer): Finding[] {
  if (!question || !answer.trim()) return []
  const path = ['aoe_answers', i, 'answer']
  if (question.type === 'numeric') return numericFindings(path, question, answer)
  if (question.type === 'text') return textFindings(path, question, answer)
  const codes = question.answers.map(({ code }) => code)
  return when(!codesOf(question, answer).every((code) => codes.some((known) => known.toUpperCase() === code)), () =>
    fieldError('aoe_answer_code', path, 'The question does not offer this answer.', `Send one of these codes: ${codes.join(', ')}.`),
  )
}

/** A multi_choice answer holds several codes separated by commas. */
const codesOf = ({ type }: Question, answer: string) =>
  (type === 'multi_choice' ? answer.split(',') : [answer]).map((code) => code.trim().toUpperCase())

function numericFindings(path: Finding['path'], { constraint }: Question, answer: string): Finding[] {
  if (!/^[+-]?(?:\d+(?:\.\d+)?|\.\d+)$/.test(answer.trim()))
    return [fieldError('aoe_answer_not_a_number', path, 'The answer is not a number.', 'Send digits, with a point before decimals.')]
  const [, least, most] = /(\d+)-(\d+)/.exec(constraint ?? '') ?? []
  const value = Number(answer)
  return when(least && (value < Number(least) || value > Number(most)), () =>
    warning('aoe_answer_out_of_range', path, 'The number is outside the range that the lab expects.', `The lab expects: ${constraint}.`),
  )
}

const formats: [constraint: RegExp, form: RegExp][] = [
  [/^YYYYMMDD/, /^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/],
  [/^HHMM/, /^([01]\d|2[0-3])[0-5]\d$/],
]

function textFindings(path: Finding['path'], { constraint }: Question, answer: string): Finding[] {
  const form = formats.find(([wanted]) => wanted.test(constraint ?? ''))?.[1]
  const [, most] = /^up to (\d+) characters/.exec(constraint ?? '') ?? []
  const odd = (form && !form.test(answer.trim())) || (most && answer.trim().length > Number(most))
  return when(odd, () =>
    warning('aoe_answer_form', path, 'The answer does not have the format that the lab expects.', `The lab expects: ${constraint}.`),
  )
}

/** A question with a default, such as fasting, never needs an answer. */
function missingAnswerFindings(markers: MarkerQuestions[], answers: Answer[]): Finding[] {
  return markers.flatMap((marker) =>
    (marker.aoe?.questions ?? [])
      .filter(({ required, default: otherwise }) => required && !otherwise)
      .filter(({ id }) => !answers.some((one) => one.marker_id === marker.id && one.question_id === id && one.answer.trim()))
      .map(({ id, value, answers }) =>
        fieldError(
          'aoe_answer_missing',
          ['aoe_answers'],
          `Marker ${marker.id} requires an answer to question ${id} ("${value}").`,
          `Add { marker_id: ${marker.id}, question_id: ${id}, answer } to aoe_answers${answers.length ? `; the codes are ${answers.map(({ code }) => code).join(', ')}` : ''}.`,
        ),
      ),
  )
}

const FASTING_OF_TEST = 'from_lab_test.fasting'

/** Returns the answers to store: codes in the lab's spelling, and defaults for unanswered questions. */
export function resolveAoeAnswers(markers: MarkerQuestions[], answers: Answer[], fasting: boolean): Answer[] {
  return markers.flatMap((marker) =>
    (marker.aoe?.questions ?? []).flatMap((question) => {
      const given = answers.find((one) => one.marker_id === marker.id && one.question_id === question.id)?.answer.trim()
      const answer = given ? normalizeAnswer(question, given) : defaultOf(question, fasting)
      return answer ? [{ marker_id: marker.id, question_id: question.id, answer }] : []
    }),
  )
}

function normalizeAnswer(question: Question, answer: string) {
  if (!question.answers.length) return answer
  const codes = codesOf(question, answer).map((code) => question.answers.find((one) => one.code.toUpperCase() === code)?.code ?? code)
  return [...new Set(codes)].join(',')
}

const defaultOf = ({ default: otherwise }: Question, fasting: boolean) =>
  otherwise === FASTING_OF_TEST ? (fasting ? 'Y' : 'N') : otherwise
