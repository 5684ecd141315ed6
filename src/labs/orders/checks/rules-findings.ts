import { statusOf } from '../../../contract/errors/kinds.ts'
import { type ErrorName, errorTypes } from '../../../contract/errors.ts'
import { type Fault, faultTypes, meaningOfFault } from '../../../contract/faults.ts'
import { type OrderFaultCode, type OrderRefusal, type OrderWarningCode, orderRefusals } from '../../../contract/labs/order-checks.ts'
import { Problem, problem } from '../../../platform/problem.ts'

/**
 * An error or a warning about an order. A hard finding rejects the order: its code is the `error_type` of a 400 or 404,
 * or the `type` of a 422 fault. No text repeats personal data.
 */
export type Finding = {
  path: (string | number)[]
  code: ErrorName | Fault['type'] | OrderWarningCode
  message: string
  remedy: string
  severity: 'hard' | 'advisory'
  status?: 400 | 404 | 422
}

type FindingText = [path: Finding['path'], message: string, remedy: string]

const newFinding = (code: Finding['code'], [path, message, remedy]: FindingText) => ({ path, code, message, remedy })

export const ruleError = (code: OrderRefusal, ...text: FindingText): Finding => ({
  ...newFinding(code, text),
  severity: 'hard',
  status: 400,
})

export const fieldError = (code: OrderFaultCode, ...text: FindingText): Finding => ({
  ...newFinding(code, text),
  severity: 'hard',
  status: 422,
})

export const warning = (code: OrderWarningCode, ...text: FindingText): Finding => ({ ...newFinding(code, text), severity: 'advisory' })

/** Turns an error into a warning. */
export const asWarning = ({ status: _, ...finding }: Finding): Finding => ({ ...finding, severity: 'advisory' })

export const findingIf = (condition: unknown, finding: () => Finding): Finding[] => (condition ? [finding()] : [])

const messageOf = ({ message, remedy }: Finding) => `${message} ${remedy}`

/** Builds the problem for the errors: all 422 faults together, or else the first broken rule with every rule in `errors`. */
export function problemFrom(findings: Finding[]): Problem | undefined {
  const hard = findings.filter(({ severity }) => severity === 'hard')
  const faults = hard.filter(({ status }) => status === 422)
  if (faults.length) return new Problem('invalid', faults.map(faultOf))
  const [first] = hard
  if (!first) return undefined
  const errors = hard.map((finding) => ({ error_type: finding.code, error_message: messageOf(finding), loc: ['body', ...finding.path] }))
  // Only ruleError and findingsFrom set a status other than 422, and their codes are names of problems.
  return problem(first.code as Parameters<typeof problem>[0], messageOf(first), errors.length > 1 ? { errors } : {})
}

const faultOf = (finding: Finding): Fault => ({
  type: finding.code as Fault['type'],
  loc: ['body', ...finding.path],
  msg: messageOf(finding),
})

/** Converts a problem thrown before the checks into findings with its meaning and remedy. */
export function findingsFrom({ kind, detail, message }: Problem): Finding[] {
  const status = statusOf[kind] as Finding['status'] & number
  const hard = { severity: 'hard', status } as const
  if (Array.isArray(detail))
    return detail.map(({ type, loc, msg }) => ({
      ...newFinding(type, [loc.slice(1), meaningOfFault(type), type === 'missing' ? faultTypes.missing.remedy : msg]),
      ...hard,
    }))
  // Problems thrown while the patient and the tests are resolved always have an error_type.
  const code = (detail as { error_type: ErrorName }).error_type
  const { meaning, remedy } = errorTypes[code]
  const advice = message.startsWith(meaning) ? message.slice(meaning.length).trim() || remedy : message
  return [{ ...newFinding(code, [pathOf(code), meaning, advice]), ...hard }]
}

const pathOf = (code: ErrorName): Finding['path'] => (code in orderRefusals ? [...orderRefusals[code as OrderRefusal]] : [])

export const warningsOf = (findings: Finding[]) =>
  findings
    .filter(({ severity }) => severity === 'advisory')
    .map((finding) => ({ code: finding.code, path: ['body', ...finding.path], message: messageOf(finding) }))
