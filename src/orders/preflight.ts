import type { App, TeamCaller } from '../app.ts'
import { faultsOf } from '../contract/faults.ts'
import { NewOrder } from '../contract/new-order.ts'
import { Problem } from '../problem.ts'
import { patientOf } from '../users/records.ts'
import { careOf, judged } from './judge.ts'
import { generalFindings } from './rules-checks.ts'
import { type Finding, findingsOf } from './rules-findings.ts'
import { besideFaults, mended } from './rules-preflight.ts'
import { zoneOf } from './rules-zones.ts'
import { resolveTests } from './tests.ts'

/** Everything that placing would stumble over or warn of, without writing anything. */
export async function validateOrder(app: App, caller: TeamCaller, sent: Record<string, unknown>) {
  const problems = await preflight(app, caller, sent)
  return {
    valid: problems.every(({ severity }) => severity === 'advisory'),
    problems: problems.map((found) => ({ ...found, path: ['body', ...found.path], status: found.status ?? null })),
  }
}

/** A part of the wrong shape is told, and the rest judged as if that part were in order. */
async function preflight(app: App, caller: TeamCaller, sent: Record<string, unknown>): Promise<Finding[]> {
  const parsed = NewOrder.safeParse(sent)
  if (parsed.success) return judgedAll(app, caller, parsed.data)
  const faults = findingsOf(new Problem('invalid', faultsOf(parsed.error, 'body', sent)))
  const rest = NewOrder.safeParse(mended(sent, faults))
  return [...faults, ...(rest.success ? besideFaults(await judgedAll(app, caller, rest.data), faults) : [])]
}

/** Somebody of whom nothing is known. */
const nobody = { team_zone: null, minor_ordering_enabled: true, info: undefined, insurance: undefined }

/** Looks on where placing would stop: at a user or tests that are not there. */
async function judgedAll(app: App, caller: TeamCaller, order: NewOrder): Promise<Finding[]> {
  const [known, resolved] = await Promise.all([
    attempt(patientOf(app, caller.team_id, order.user_id)),
    attempt(resolveTests(app, caller, order)),
  ])
  const patient = known instanceof Problem ? nobody : known
  const refusals = [known, resolved].flatMap((one) => (one instanceof Problem ? findingsOf(one) : []))
  if (!(resolved instanceof Problem)) return [...refusals, ...(await judged(app, caller, order, { patient, resolved })).findings]
  const care = careOf(app, patient, zoneOf(order.patient_address, patient.team_zone), order.collection_method ?? '')
  return [...refusals, ...generalFindings(order, care)]
}

const attempt = <T>(work: Promise<T>): Promise<T | Problem> =>
  work.catch((error) => {
    if (error instanceof Problem) return error
    throw error
  })
