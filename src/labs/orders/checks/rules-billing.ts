import type { NewOrder } from '../../../contract/labs/new-order.ts'
import { normalizeIcdCode } from '../../../tenants/insurance/rules.ts'
import { stateCode } from '../../geography/rules-states.ts'
import { type DiagnosedTests, diagnosesOf, diagnosisFindings, testDiagnoses } from './rules-diagnoses.ts'
import { type Finding, findingIf, ruleError, warning } from './rules-findings.ts'

type Account = { allowed_billing: Record<string, string[]>; delegated_flow: string; org_id: string | null }
export type Billing = DiagnosedTests & {
  lab: { name: string; supported_bill_types: string[] }
  account: Account
  /** The user's latest primary insurance. */
  insurance?: { relationship: string; has_guarantor: boolean } | undefined
  /** False if the insurance names a payor that neither the catalog nor the team has. */
  payor_known: boolean
}

export function billingFindings(body: NewOrder, billing: Billing): Finding[] {
  const path = ['billing_type']
  const { lab, account } = billing
  const insured = body.billing_type === 'commercial_insurance'
  const supported = lab.supported_bill_types.includes(body.billing_type)
  return [
    ...findingIf(!supported, () =>
      ruleError(
        'BILLING_TYPE_NOT_SUPPORTED',
        path,
        `${lab.name} does not support this billing_type.`,
        `Send one of ${lab.supported_bill_types.join(', ')}.`,
      ),
    ),
    ...findingIf(supported && !canBill(account, body), () =>
      ruleError(
        'BILLING_TYPE_NOT_ALLOWED',
        path,
        "The lab account may not use this billing_type in the patient's state.",
        'Check allowed_billing in GET /v3/lab_test/lab_account.',
      ),
    ),
    ...(insured ? insuranceFindings(body, billing) : []),
    ...codeFindings(body, insured),
    ...diagnosisFindings(body.icd_codes_by_test ?? [], billing),
    ...findingIf(!billing.payor_known, () =>
      warning(
        'payor_unknown',
        ['health_insurance', 'payor_code'],
        'Neither the catalog nor the team has a payor with this code.',
        'Find the code with GET /v3/insurance/search/payor, or create the payor with POST /v3/payor.',
      ),
    ),
  ]
}

/** The platform account can bill wherever the lab operates; its list has only the fifty states, without DC and the territories. */
function canBill({ org_id, allowed_billing }: Account, { billing_type, patient_address }: NewOrder) {
  return !org_id || !!allowed_billing[billing_type]?.includes(stateCode(patient_address.state) ?? '')
}

/** The payor with the member ID, or an image of the card, identifies the policy. */
const identifiesPolicy = (health_insurance: NewOrder['health_insurance']) =>
  !!(health_insurance?.front_image || (health_insurance?.payor_code && health_insurance.insurance_id))

function insuranceFindings(body: NewOrder, billing: Billing): Finding[] {
  const { insurance } = billing
  const policy = identifiesPolicy(body.health_insurance) ? body.health_insurance : undefined
  const relationship = policy ? (policy.responsible_relationship ?? 'Self') : insurance?.relationship
  const hasGuarantor = policy ? policy.responsible_details : insurance?.has_guarantor
  return [
    ...findingIf(!policy && !insurance, () =>
      ruleError(
        'INSURANCE_REQUIRED',
        ['health_insurance'],
        'An order billed to commercial insurance requires the insurance of the patient.',
        'Record it with POST /v2/user/{user_id}/insurance, or send health_insurance with payor_code and insurance_id.',
      ),
    ),
    ...findingIf(relationship && relationship !== 'Self' && !hasGuarantor, () =>
      ruleError(
        'GUARANTOR_REQUIRED',
        ['health_insurance', 'responsible_details'],
        'The patient is insured through another person, and the order names no guarantor.',
        'Send responsible_details, or record the insurance with its guarantor.',
      ),
    ),
    ...findingIf(!isDiagnosed(body, billing), () =>
      ruleError(
        'ICD_CODES_REQUIRED',
        ['icd_codes'],
        'An order billed to commercial insurance requires a diagnosis code.',
        'Send at least one ICD-10-CM code, such as E78.5, in icd_codes, or in icd_codes_by_test for every test.',
      ),
    ),
  ]
}

/** Whether every test has a diagnosis, of its own or of the order. */
function isDiagnosed(body: NewOrder, ordered: DiagnosedTests) {
  if (codesOf(body).length) return true
  const diagnoses = { icd_codes: null, icd_codes_by_test: testDiagnoses(body.icd_codes_by_test ?? [], ordered) }
  return ordered.markers.length > 0 && ordered.markers.every(({ id }) => diagnosesOf(diagnoses, id).length > 0)
}

type Code = { path: Finding['path']; code: string }

const codesOf = ({ icd_codes, health_insurance }: NewOrder): Code[] => [
  ...(icd_codes ?? []).map((code, i) => ({ code, path: ['icd_codes', i] })),
  ...(health_insurance?.diagnosis_codes ?? []).map((code, i) => ({ code, path: ['health_insurance', 'diagnosis_codes', i] })),
]

const codeFindings = (body: NewOrder, insured: boolean): Finding[] =>
  codesOf(body)
    .filter(({ code }) => !normalizeIcdCode(code))
    .map(({ path }) => {
      const text = [path, 'The code is not in ICD-10-CM format.', 'Send a code such as E78.5.'] as const
      return insured ? ruleError('ICD_CODE_INVALID', ...text) : warning('icd_code_malformed', ...text)
    })

/** Removes duplicates and normalizes valid codes; an invalid code stays unchanged. */
export const normalizeIcdCodes = (codes: string[]): string[] => [...new Set(codes.map((code) => normalizeIcdCode(code) ?? code))]

/** Codes for examinations and screening without symptoms. Medicare covers some of these tests; the code alone does not show which. */
const isScreening = (code: string) => /^Z(0[01]|1[123])/.test(code)

/** Whether a diagnosis other than screening supports a test. */
export const isSupported = (icd_codes: string[]) => !icd_codes.flatMap((code) => normalizeIcdCode(code) ?? []).every(isScreening)

/** Whether Original Medicare may deny a test: it is the payor, and no diagnosis other than screening supports the test. */
export const needsAbn = ({ payor_name, icd_codes }: { payor_name: string; icd_codes: string[] }) =>
  /\bmedicare\b/i.test(payor_name) && !/\b(advantage|part [cd])\b/i.test(payor_name) && !isSupported(icd_codes)
