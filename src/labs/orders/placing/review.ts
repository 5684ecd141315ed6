import type { NewOrder } from '../../../contract/labs/new-order.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { findPayor } from '../../../tenants/insurance/actions.ts'
import type { loadPatient } from '../../../tenants/users/records.ts'
import { coverageOf } from '../../coverage/actions.ts'
import { zoneOf } from '../../geography/rules-zones.ts'
import { orderFindings } from '../checks/rules-checks.ts'
import { isOtherPerson } from '../checks/rules-patients.ts'
import type { ResolvedTests } from './tests.ts'

type Patient = Pick<Awaited<ReturnType<typeof loadPatient>>, 'team_zone' | 'minor_ordering_enabled' | 'info' | 'insurance'>

/** Collects the findings (errors and warnings) for an order whose patient and tests are resolved. */
export async function reviewOrder(
  app: App,
  caller: TeamCaller,
  body: NewOrder,
  { patient, resolved }: { patient: Patient; resolved: ResolvedTests },
) {
  const { lab, tests, markers, method, account } = resolved
  const zone = zoneOf(body.patient_address, patient.team_zone)
  const coverage = await coverageOf(app, caller.team_id, { lab, method, address: body.patient_address })
  // Gap 317: the recorded insurance is that of the user.
  const insurance = isOtherPerson(body.patient_details, patient.info) ? undefined : patient.insurance
  const payor_code = body.health_insurance?.payor_code ?? insurance?.payor_code
  const payor = payor_code && usesPayor(body) ? await findPayor(app, caller.team_id, payor_code) : undefined
  const context = {
    ...patientContextOf(app, patient, zone, method),
    lab,
    tests,
    markers,
    account,
    coverage,
    insurance: insurance && { relationship: insurance.relationship, has_guarantor: Boolean(insurance.guarantor) },
    payor_known: !payor_code || !usesPayor(body) || Boolean(payor),
  }
  return { zone, payor, insurance, findings: orderFindings(body, context) }
}

/** With client_bill the customer pays, so no payor is involved. */
const usesPayor = ({ billing_type }: NewOrder) => billing_type !== 'client_bill'

export const patientContextOf = (app: App, patient: Pick<Patient, 'minor_ordering_enabled' | 'info'>, zone: string, method: string) => ({
  now: app.now(),
  zone,
  method,
  minor_ordering_enabled: patient.minor_ordering_enabled,
  record: patient.info,
  consent_ages: app.config.CONSENT_AGES,
})
