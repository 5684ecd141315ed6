import { type ErrorName, errorTypes, statusOf } from '../../../contract/errors.ts'
import type { Fault } from '../../../contract/faults.ts'
import { Problem, problem } from '../../../platform/problem.ts'

/**
 * What is wrong with an order, or worth a second look. A hard one refuses it: `code` is then the `error_type` of a 400 or 404,
 * or the `type` of a fault of a 422. No text repeats what the patient gave.
 */
export type Finding = {
  path: (string | number)[]
  code: string
  message: string
  remedy: string
  severity: 'hard' | 'advisory'
  status?: 400 | 404 | 422
}

type Said = [path: Finding['path'], message: string, remedy: string]

const found = (code: string, [path, message, remedy]: Said) => ({ path, code, message, remedy })

export const refused = (code: ErrorName, ...said: Said): Finding => ({ ...found(code, said), severity: 'hard', status: 400 })

export const faulty = (code: string, ...said: Said): Finding => ({ ...found(code, said), severity: 'hard', status: 422 })

export const advised = (code: string, ...said: Said): Finding => ({ ...found(code, said), severity: 'advisory' })

/** The same, where it does not refuse. */
export const asAdvice = ({ status: _, ...found }: Finding): Finding => ({ ...found, severity: 'advisory' })

/** The finding where the condition holds. */
export const when = (condition: unknown, finding: () => Finding): Finding[] => (condition ? [finding()] : [])

export const textOf = ({ message, remedy }: Finding) => `${message} ${remedy}`

/** The refusal that hard findings come to: every fault at once, or else the first rule that is broken, with all of them in `errors`. */
export function refusalOf(findings: Finding[]): Problem | undefined {
  const hard = findings.filter(({ severity }) => severity === 'hard')
  const faults = hard.filter(({ status }) => status === 422)
  if (faults.length) return new Problem('invalid', faults.map(faultOf))
  const [first] = hard
  if (!first) return undefined
  const errors = hard.map((finding) => ({ error_type: finding.code, error_message: textOf(finding), loc: ['body', ...finding.path] }))
  // Findings with another status than 422 are made with an ErrorName only.
  return problem(first.code as ErrorName, textOf(first), errors.length > 1 ? { errors } : {})
}

const faultOf = (finding: Finding): Fault => ({ type: finding.code, loc: ['body', ...finding.path], msg: textOf(finding) })

const faultMeanings: Record<string, string> = {
  missing: 'The field is missing.',
  type_error: 'The value is of another type.',
  format_error: 'The value is not written as it must be.',
  enum: 'The value is none of those that are taken.',
  too_small: 'The value is too short or too small.',
  too_big: 'The value is too long or too large.',
}

/** The part of an order that a refusal is about. */
const places: Partial<Record<ErrorName, Finding['path']>> = {
  USER_NOT_FOUND: ['user_id'],
  USER_SCHEDULED_FOR_DELETION: ['user_id'],
  NO_TESTS_NAMED: ['order_set'],
  SEVERAL_LABS: ['order_set'],
  UNKNOWN_LAB_TEST: ['order_set', 'lab_test_ids'],
  LAB_TEST_NOT_ACTIVE: ['order_set', 'lab_test_ids'],
  MARKERS_REQUIRED: ['order_set', 'add_on'],
  MARKERS_NAMED_TWICE: ['order_set', 'add_on'],
  UNKNOWN_MARKER: ['order_set', 'add_on'],
  MARKER_NOT_A_LA_CARTE: ['order_set', 'add_on'],
  MARKER_NOT_ORDERABLE: ['order_set'],
  COLLECTION_METHOD_REQUIRED: ['collection_method'],
  SEVERAL_METHODS: ['collection_method'],
  METHOD_NOT_OFFERED: ['collection_method'],
  UNKNOWN_LAB_ACCOUNT: ['lab_account_id'],
  LAB_ACCOUNT_INACTIVE: ['lab_account_id'],
  LAB_ACCOUNT_AMBIGUOUS: ['lab_account_id'],
  LAB_ACCOUNTS_DIFFER: ['lab_account_id'],
  LAB_ACCOUNT_OF_ANOTHER_LAB: ['lab_account_id'],
}

/** A refusal that came before the findings, as one of them: what it means, and what it says to do. */
export function findingsOf({ kind, detail, message }: Problem): Finding[] {
  const status = statusOf[kind] as Finding['status'] & number
  const hard = { severity: 'hard', status } as const
  if (Array.isArray(detail))
    return detail.map(({ type, loc, msg }) => ({
      ...found(type, [loc.slice(1), faultMeanings[type] ?? 'The value is not valid.', type === 'missing' ? 'Send it.' : msg]),
      ...hard,
    }))
  // What reads an order refuses by an error_type, never by mere text.
  const code = (detail as { error_type: ErrorName }).error_type
  return [{ ...found(code, [places[code] ?? [], errorTypes[code].meaning, message]), ...hard }]
}

/** What is said about an order that was accepted all the same. */
export const warningsOf = (findings: Finding[]) =>
  findings
    .filter(({ severity }) => severity === 'advisory')
    .map((one) => ({ code: one.code, path: ['body', ...one.path], message: textOf(one) }))
