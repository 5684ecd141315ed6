import { type ErrorName, statusOf } from '../contract/errors.ts'
import type { Fault } from '../contract/faults.ts'
import { Problem, problem } from '../problem.ts'

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

/** A refusal that made it impossible to look further, among the findings of a preflight. */
export function findingsOf({ kind, detail, message }: Problem): Finding[] {
  const status = statusOf[kind] as Finding['status'] & number
  if (Array.isArray(detail))
    return detail.map(({ type, loc, msg }) => ({ path: loc.slice(1), code: type, message: msg, remedy: '', severity: 'hard', status }))
  const code = typeof detail === 'string' ? 'REFUSED' : detail.error_type
  return [{ path: [], code, message, remedy: '', severity: 'hard', status }]
}

/** What is said about an order that was accepted all the same. */
export const warningsOf = (findings: Finding[]) =>
  findings
    .filter(({ severity }) => severity === 'advisory')
    .map((one) => ({ code: one.code, path: ['body', ...one.path], message: textOf(one) }))
