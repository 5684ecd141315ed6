import type { NewOrder } from '../../../contract/labs/new-order.ts'
import { type Coverage, servesState } from '../../coverage/rules.ts'
import { stateCode } from '../../geography/rules-states.ts'
import { aoeFindings, type MarkerQuestions } from './rules-aoe.ts'
import { type Billing, billingFindings } from './rules-billing.ts'
import { type Finding, fieldError, findingIf, ruleError, warning } from './rules-findings.ts'
import {
  addressFindings,
  ageFindings,
  nameFindings,
  type PatientContext,
  phoneFindings,
  proxyFindings,
  recordFindings,
} from './rules-patients.ts'
import { isNpi } from './rules-people.ts'
import { canActivateOn } from './rules-schedule.ts'

type Lab = Billing['lab'] & {
  collection_methods: string[]
  excluded_states: string[]
  physician_required_states: string[]
  supports_stat: boolean
  name_rules: Record<string, unknown>
}

/** Everything the checks need once the tests, lab and account of the order are resolved. */
export type OrderContext = PatientContext & Billing & { lab: Lab; markers: MarkerQuestions[]; coverage: Coverage }

/** Collects the findings (errors and warnings) for an order whose tests are resolved. */
export const orderFindings = (body: NewOrder, context: OrderContext): Finding[] => [
  ...ageFindings(body, context),
  ...proxyFindings(body),
  ...recordFindings(body, context),
  ...aoeFindings(context.markers, body.aoe_answers ?? []),
  ...scheduleFindings(body, context),
  ...labFindings(body, context),
  ...billingFindings(body, context),
  ...physicianFindings(body, context),
  ...nameFindings(body, context.lab),
  ...phoneFindings(body),
  ...addressFindings(body),
  ...coverageFindings(context),
  ...consentFindings(body),
  ...imageFindings(body),
]

/** Collects the findings that do not depend on the tests, lab and account. */
export const generalFindings = (body: NewOrder, context: PatientContext): Finding[] => [
  ...ageFindings(body, context),
  ...proxyFindings(body),
  ...recordFindings(body, context),
  ...scheduleFindings(body, context),
  ...(body.physician ? namedPhysicianFindings(body.physician, body) : []),
  ...phoneFindings(body),
  ...addressFindings(body),
  ...consentFindings(body),
  ...imageFindings(body),
]

function scheduleFindings({ activate_by }: NewOrder, { now, zone }: PatientContext): Finding[] {
  return findingIf(activate_by && !canActivateOn(activate_by, now, zone), () =>
    fieldError('activate_by_in_the_past', ['activate_by'], 'activate_by has passed.', 'Send today or a later day, or leave it out.'),
  )
}

function labFindings({ priority, patient_address }: NewOrder, { lab }: OrderContext): Finding[] {
  const state = stateCode(patient_address.state)
  return [
    ...findingIf(!servesState(lab, state), () =>
      ruleError(
        'LAB_DOES_NOT_SERVE_STATE',
        ['patient_address', 'state'],
        `${lab.name} does not serve ${state}.`,
        'Order from another lab.',
      ),
    ),
    ...findingIf(priority && !lab.supports_stat, () =>
      warning(
        'stat_not_supported',
        ['priority'],
        `${lab.name} does not offer STAT orders.`,
        'Leave priority out. The lab processes the order normally.',
      ),
    ),
  ]
}

/** The lab or the patient may know another way, so the order is accepted. */
function coverageFindings({ coverage, method, lab }: OrderContext): Finding[] {
  const path = ['patient_address', 'zip']
  const otherWay = 'GET /v3/order/area/info shows the collection methods that are available.'
  if (method === 'at_home_phlebotomy')
    return findingIf(coverage === 'not_served', () =>
      warning('home_draw_not_offered', path, 'No phlebotomy service of the catalog visits patients in this ZIP code.', otherWay),
    )
  if (coverage === 'not_served')
    return [warning('no_site_nearby', path, `${lab.name} has no collection site within 100 miles of this ZIP code.`, otherWay)]
  return findingIf(coverage === 'distance_unknown', () =>
    warning('distance_unknown', path, 'The location of this ZIP code is unknown, so the distance to collection sites is too.', 'Check it.'),
  )
}

const physicianFlows = ['order_delegated', 'fully_delegated']

function physicianFindings({ physician, patient_address }: NewOrder, { lab, account }: OrderContext): Finding[] {
  if (physician) return namedPhysicianFindings(physician, { patient_address })
  const path = ['physician']
  const state = stateCode(patient_address.state)
  const required = state && lab.physician_required_states.includes(state)
  return [
    ...findingIf(required, () =>
      ruleError('PHYSICIAN_REQUIRED', path, `${lab.name} accepts orders from ${state} only with a physician.`, 'Send physician.'),
    ),
    ...findingIf(!required && account.org_id && physicianFlows.includes(account.delegated_flow), () =>
      warning('physician_expected', path, 'Orders through this lab account should name a physician.', 'Send physician.'),
    ),
  ]
}

type Physician = NonNullable<NewOrder['physician']>

function namedPhysicianFindings(physician: Physician, { patient_address }: Pick<NewOrder, 'patient_address'>): Finding[] {
  const state = stateCode(patient_address.state)
  return [...npiFindings(physician), ...(state ? licenseFindings(physician, state) : [])]
}

const npiFindings = ({ npi }: Physician) =>
  findingIf(!isNpi(npi), () =>
    warning('npi_invalid', ['physician', 'npi'], 'The NPI is not valid.', 'Send its ten digits; the last one is a check digit.'),
  )

const licenseFindings = ({ licensed_states }: Physician, state: string) =>
  findingIf(licensed_states.length && !licensed_states.some((licensed) => stateCode(licensed) === state), () =>
    warning(
      'physician_not_licensed',
      ['physician', 'licensed_states'],
      "The physician is not licensed in the patient's state.",
      `Add ${state} to licensed_states, or name a physician who is licensed there.`,
    ),
  )

/** An order with a physician needs no consents, because the physician obtained them. */
const consentFindings = ({ consents, physician }: NewOrder) =>
  findingIf(!consents.length && !physician, () =>
    warning(
      'consents_missing',
      ['consents'],
      'The order has neither consents nor a physician.',
      'Send the consents that the patient gave.',
    ),
  )

const imagePrefixes = { 'image/jpeg': '/9j/', 'image/png': 'iVBORw0KGgo' }

function imageFindings({ physician, health_insurance }: NewOrder): Finding[] {
  const images = {
    'physician.signature_image': physician?.signature_image,
    'health_insurance.front_image': health_insurance?.front_image,
    'health_insurance.back_image': health_insurance?.back_image,
    'health_insurance.patient_signature_image': health_insurance?.patient_signature_image,
  }
  return Object.entries(images)
    .filter(([, image]) => image && !image.content.startsWith(imagePrefixes[image.content_type]))
    .map(([field]) =>
      warning(
        'image_unlike_its_type',
        field.split('.'),
        'The bytes of the image do not match its content_type.',
        'Check content_type and content.',
      ),
    )
}
