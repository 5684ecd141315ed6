import { faultsOf } from '../../../contract/faults.ts'
import { NewOrder } from '../../../contract/labs/new-order.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { Problem } from '../../../platform/problem.ts'
import { loadPatient } from '../../../tenants/users/records.ts'
import { zoneOf } from '../../geography/rules-zones.ts'
import { generalFindings } from '../checks/rules-checks.ts'
import { type Finding, findingsFrom } from '../checks/rules-findings.ts'
import { correctOrder, findingsBesideFaults, withoutRejectedPart } from '../checks/rules-preflight.ts'
import type { TestSelection } from '../checks/rules-tests.ts'
import { patientContextOf, reviewOrder } from './review.ts'
import { type ResolvedTests, resolveTests } from './tests.ts'

/** Returns every error and warning that placing the order would raise, without writing anything. */
export async function validateOrder(app: App, caller: TeamCaller, body: Record<string, unknown>) {
  const problems = await preflight(app, caller, body)
  return {
    valid: problems.every(({ severity }) => severity === 'advisory'),
    problems: problems.map((problem) => ({ ...problem, path: ['body', ...problem.path], status: problem.status ?? null })),
  }
}

/** Reports invalid parts, and checks the rest as if those parts were valid. */
async function preflight(app: App, caller: TeamCaller, body: Record<string, unknown>): Promise<Finding[]> {
  const parsed = NewOrder.safeParse(body)
  if (parsed.success) return reviewAll(app, caller, parsed.data)
  const faults = findingsFrom(new Problem('invalid', faultsOf(parsed.error, 'body', body)))
  const rest = NewOrder.safeParse(correctOrder(body, faults))
  return [...faults, ...(rest.success ? findingsBesideFaults(await reviewAll(app, caller, rest.data), faults) : [])]
}

const unknownPatient = { team_zone: null, minor_ordering_enabled: true, info: undefined, insurance: undefined }

/** Continues where placing stops: at an unknown user or unknown tests. */
async function reviewAll(app: App, caller: TeamCaller, body: NewOrder): Promise<Finding[]> {
  const [patientOrProblem, { resolved, rejections }] = await Promise.all([
    catchProblem(loadPatient(app, caller.team_id, body.user_id)),
    resolveAll(app, caller, body),
  ])
  const patient = patientOrProblem instanceof Problem ? unknownPatient : patientOrProblem
  const allRejections = [...(patientOrProblem instanceof Problem ? findingsFrom(patientOrProblem) : []), ...rejections]
  if (resolved && !rejections.length) return [...allRejections, ...(await reviewOrder(app, caller, body, { patient, resolved })).findings]
  const context = patientContextOf(app, patient, zoneOf(body.patient_address, patient.team_zone), body.collection_method ?? '')
  return [...allRejections, ...generalFindings(body, context)]
}

const isAboutAccount = ({ path }: Finding) => path[0] === 'lab_account_id'

/** Collects the rejected parts of the selection, and resolves the rest without them. */
async function resolveAll(app: App, caller: TeamCaller, body: NewOrder) {
  const rejections: Finding[] = []
  let selection: TestSelection | undefined = body
  while (selection) {
    const resolved: ResolvedTests | Problem = await catchProblem(resolveTests(app, caller, selection))
    if (!(resolved instanceof Problem)) return { resolved, rejections }
    const findings = findingsFrom(resolved)
    // Without the named account the choice may be ambiguous, which is no help to a caller who named one.
    if (!rejections.some(isAboutAccount) || !findings.some(isAboutAccount)) rejections.push(...findings)
    selection = withoutRejectedPart(selection, resolved)
  }
  return { rejections }
}

const catchProblem = <T>(work: Promise<T>): Promise<T | Problem> =>
  work.catch((error) => {
    if (error instanceof Problem) return error
    throw error
  })
