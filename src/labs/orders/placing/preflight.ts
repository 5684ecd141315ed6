import { faultsOf } from '../../../contract/faults.ts'
import { NewOrder } from '../../../contract/labs/new-order.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { Problem } from '../../../platform/problem.ts'
import { loadPatient } from '../../../tenants/users/records.ts'
import { generalFindings } from '../checks/rules-checks.ts'
import { type Finding, findingsFrom } from '../checks/rules-findings.ts'
import { besideFaults, correctOrder, withoutRejectedPart } from '../checks/rules-preflight.ts'
import type { TestSelection } from '../checks/rules-tests.ts'
import { zoneOf } from '../checks/rules-zones.ts'
import { patientContextOf, reviewOrder } from './review.ts'
import { type Resolved, resolveTests } from './tests.ts'

/** Returns every error and warning that placing the order would raise, without writing anything. */
export async function validateOrder(app: App, caller: TeamCaller, sent: Record<string, unknown>) {
  const problems = await preflight(app, caller, sent)
  return {
    valid: problems.every(({ severity }) => severity === 'advisory'),
    problems: problems.map((found) => ({ ...found, path: ['body', ...found.path], status: found.status ?? null })),
  }
}

/** Reports invalid parts, and checks the rest as if those parts were valid. */
async function preflight(app: App, caller: TeamCaller, sent: Record<string, unknown>): Promise<Finding[]> {
  const parsed = NewOrder.safeParse(sent)
  if (parsed.success) return reviewAll(app, caller, parsed.data)
  const faults = findingsFrom(new Problem('invalid', faultsOf(parsed.error, 'body', sent)))
  const rest = NewOrder.safeParse(correctOrder(sent, faults))
  return [...faults, ...(rest.success ? besideFaults(await reviewAll(app, caller, rest.data), faults) : [])]
}

const unknownPatient = { team_zone: null, minor_ordering_enabled: true, info: undefined, insurance: undefined }

/** Continues where placing stops: at an unknown user or unknown tests. */
async function reviewAll(app: App, caller: TeamCaller, order: NewOrder): Promise<Finding[]> {
  const [known, { resolved, refused }] = await Promise.all([
    orProblem(loadPatient(app, caller.team_id, order.user_id)),
    resolveAll(app, caller, order),
  ])
  const patient = known instanceof Problem ? unknownPatient : known
  const refusals = [...(known instanceof Problem ? findingsFrom(known) : []), ...refused]
  if (resolved && !refused.length) return [...refusals, ...(await reviewOrder(app, caller, order, { patient, resolved })).findings]
  const care = patientContextOf(app, patient, zoneOf(order.patient_address, patient.team_zone), order.collection_method ?? '')
  return [...refusals, ...generalFindings(order, care)]
}

const isAboutAccount = ({ path }: Finding) => path[0] === 'lab_account_id'

/** Collects the rejected parts of the selection, and resolves the rest without them. */
async function resolveAll(app: App, caller: TeamCaller, order: NewOrder) {
  const refused: Finding[] = []
  let named: TestSelection | undefined = order
  while (named) {
    const resolved: Resolved | Problem = await orProblem(resolveTests(app, caller, named))
    if (!(resolved instanceof Problem)) return { resolved, refused }
    const findings = findingsFrom(resolved)
    // Without the named account the choice may be ambiguous, which says nothing to a caller who named one.
    if (!refused.some(isAboutAccount) || !findings.some(isAboutAccount)) refused.push(...findings)
    named = withoutRejectedPart(named, resolved)
  }
  return { refused }
}

const orProblem = <T>(work: Promise<T>): Promise<T | Problem> =>
  work.catch((error) => {
    if (error instanceof Problem) return error
    throw error
  })
