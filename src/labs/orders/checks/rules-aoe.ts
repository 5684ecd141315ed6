import type { AoE } from '../../../contract/labs/catalog.ts'
import { type Finding, fieldError, findingIf, warning } from './rules-findings.ts'

type Answer = { marker_id: number; question_id: number; answer: string }
export type MarkerQuestions = { id: number; aoe: AoE | null }
type Question = AoE['questions'][number]
type ResolvedAnswer = Answer & { i: number; question: Question | undefined; markerFound: boolean }

/** Finds every error and warning in the AoE answers. */
export function aoeFindings(markers: MarkerQuestions[], answers: Answer[]): Finding[] {
  const resolved = answers.map((answer, i) => ({ ...answer, i, ...findQuestion(markers, answer) }))
  return [
    ...resolved.flatMap((answer) => referenceFindings(answer, resolved)),
    ...resolved.flatMap(answerFindings),
    ...missingAnswerFindings(markers, answers),
  ]
}

function findQuestion(markers: MarkerQuestions[], { marker_id, question_id }: Answer) {
  const marker = markers.find(({ id }) => id === marker_id)
  return { markerFound: !!marker, question: marker?.aoe?.questions.find(({ id }) => id === question_id) }
}

const isSameQuestion = (a: Answer, b: Answer) => a.marker_id === b.marker_id && a.question_id === b.question_id

function referenceFindings(answer: ResolvedAnswer, all: ResolvedAnswer[]): Finding[] {
  const path = ['aoe_answers', answer.i]
  if (!answer.markerFound)
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
  return findingIf(
    all.some((other) => other.i < answer.i && isSameQuestion(other, answer)),
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
  return findingIf(!codesOf(question, answer).every((code) => codes.some((offered) => offered.toUpperCase() === code)), () =>
    fieldError('aoe_answer_code', path, 'The question does not offer this answer.', `Send one of these codes: ${codes.join(', ')}.`),
  )
}

/** A multi_choice answer holds several codes separated by commas. */
const codesOf = ({ type }: Question, answer: string) =>
  (type === 'multi_choice' ? answer.split(',') : [answer]).map((code) => code.trim().toUpperCase())

function numericFindings(path: Finding['path'], { constraint }: Question, answer: string): Finding[] {
  if (!/^[+-]?(?:\d+(?:\.\d+)?|\.\d+)$/.test(answer.trim()))
    return [fieldError('aoe_answer_not_a_number', path, 'The answer is not a number.', 'Send digits, with a point before decimals.')]
  const [, min, max] = /(\d+)-(\d+)/.exec(constraint ?? '') ?? []
  const value = Number(answer)
  return findingIf(min && (value < Number(min) || value > Number(max)), () =>
    warning('aoe_answer_out_of_range', path, 'The number is outside the range that the lab expects.', `The lab expects: ${constraint}.`),
  )
}

const formats: [constraint: RegExp, format: RegExp][] = [
  [/^YYYYMMDD/, /^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/],
  [/^HHMM/, /^([01]\d|2[0-3])[0-5]\d$/],
]

function textFindings(path: Finding['path'], { constraint }: Question, answer: string): Finding[] {
  const format = formats.find(([pattern]) => pattern.test(constraint ?? ''))?.[1]
  const [, max] = /^up to (\d+) characters/.exec(constraint ?? '') ?? []
  const isMalformed = (format && !format.test(answer.trim())) || (max && answer.trim().length > Number(max))
  return findingIf(isMalformed, () =>
    warning('aoe_answer_form', path, 'The answer does not have the format that the lab expects.', `The lab expects: ${constraint}.`),
  )
}

/** A question with a default, such as fasting, never needs an answer. */
function missingAnswerFindings(markers: MarkerQuestions[], answers: Answer[]): Finding[] {
  return markers.flatMap((marker) =>
    (marker.aoe?.questions ?? [])
      .filter(({ required, default: defaultAnswer }) => required && !defaultAnswer)
      .filter(({ id }) => !answers.some((answer) => answer.marker_id === marker.id && answer.question_id === id && answer.answer.trim()))
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
      const sentAnswer = answers.find((answer) => answer.marker_id === marker.id && answer.question_id === question.id)?.answer.trim()
      const answer = sentAnswer ? normalizeAnswer(question, sentAnswer) : defaultOf(question, fasting)
      return answer ? [{ marker_id: marker.id, question_id: question.id, answer }] : []
    }),
  )
}

function normalizeAnswer(question: Question, answer: string) {
  if (!question.answers.length) return answer
  const codes = codesOf(question, answer).map((code) => question.answers.find((choice) => choice.code.toUpperCase() === code)?.code ?? code)
  return [...new Set(codes)].join(',')
}

const defaultOf = ({ default: defaultAnswer }: Question, fasting: boolean) =>
  defaultAnswer === FASTING_OF_TEST ? (fasting ? 'Y' : 'N') : defaultAnswer
