import { z } from 'zod'
import { Cursor, Id, openEnum, Text } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { methods } from './lifecycle.ts'

export const sampleTypes = ['dried_blood_spot', 'arm_collector', 'serum', 'saliva', 'urine', 'stool'] as const
export const labTestStatuses = ['active', 'pending_approval', 'inactive'] as const
export const labAccountStatuses = ['active', 'pending', 'suspended', 'ready_to_launch'] as const
export const delegatedFlows = ['order_delegated', 'result_delegated', 'fully_delegated', 'not_delegated'] as const
export const billingTypes = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill'] as const
const generations = ['auto', 'manual', 'all'] as const
export const usStates =
  'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY'.split(
    ' ',
  )

/** IDs of labs and markers, within the range of PostgreSQL's integer. */
export const IntegerId = z.int().min(1).max(2_147_483_647)
const LabTestId = z.object({ lab_test_id: Id })
const AccountQuery = z.object({ lab_account_id: Id.nullish().describe('Must be an account at the lab that the team can use.') })

export const Lab = z
  .object({
    id: z.int(),
    slug: Safe,
    name: Safe,
    first_line_address: Safe,
    city: Safe,
    zipcode: Safe,
    collection_methods: z.array(openEnum(methods)),
    sample_types: z.array(openEnum(sampleTypes)),
    logo_url: Safe.nullish(),
  })
  .meta({ id: 'Lab' })

export const AoE = z
  .object({
    questions: z.array(
      z.object({
        id: z.int(),
        required: z.boolean(),
        code: Safe,
        value: Safe,
        type: openEnum(['choice', 'text', 'numeric', 'multi_choice']),
        sequence: z.int(),
        answers: z.array(z.object({ id: z.int(), code: Safe, value: Safe })),
        constraint: Safe.nullish(),
        default: Safe.nullish(),
      }),
    ),
  })
  .meta({ id: 'AoE', description: 'The questions to answer when you order the marker.' })
export type AoE = z.output<typeof AoE>

const marker = {
  id: z.int(),
  name: Safe,
  slug: Safe,
  description: Safe.nullable(),
  lab_id: z.int().nullable(),
  provider_id: Safe.nullable().describe("The lab's code for the marker."),
  type: openEnum(['biomarker', 'panel']).nullable(),
  unit: Safe.nullable(),
  price: Safe.nullable().describe('In US dollars.'),
  aoe: AoE.nullable(),
  a_la_carte_enabled: z.boolean(),
  common_tat_days: z.int().nullable().describe('The usual turnaround in days.'),
  worst_case_tat_days: z.int().nullable().describe('The longest turnaround in days.'),
  is_orderable: z.boolean().nullable(),
}
const Marker = z.object(marker).meta({ id: 'Marker' })

const ExpectedResult = z
  .object({
    id: z.int(),
    name: Safe,
    slug: Safe,
    lab_id: z.int().nullable(),
    provider_id: Safe.nullable(),
    required: z.boolean(),
    loinc: z.object({ id: z.int(), name: Safe, slug: Safe, code: Safe, unit: Safe.nullable() }).nullable(),
  })
  .meta({ id: 'ExpectedResult' })

const Price = z.object({ base_amount_minor: z.int().describe('In US cents.'), modifiers: z.null() }).meta({ id: 'Price' })

const MarkerPage = z
  .object({
    markers: z.array(z.object({ ...marker, expected_results: z.array(ExpectedResult) }).meta({ id: 'MarkerComplete' })),
    total: z.int(),
    page: z.int(),
    size: z.int(),
    pages: z.int(),
    pricing: z.object({ currency: z.literal('USD'), data: z.record(Safe, Price) }).nullish(),
  })
  .meta({ id: 'MarkerPage' })

export const LabTest = z
  .object({
    id: Id,
    slug: Safe,
    name: Safe,
    sample_type: openEnum(sampleTypes),
    method: openEnum(methods),
    price: z.number().describe('In US dollars.'),
    is_active: deprecated(z.boolean(), 'Use `status`.'),
    status: openEnum(labTestStatuses),
    fasting: z.boolean(),
    lab: Lab.nullable(),
    markers: z.array(Marker).nullable(),
    is_delegated: deprecated(z.boolean(), 'The value is always false.'),
    auto_generated: z.boolean(),
    has_collection_instructions: z.boolean().nullable(),
    common_tat_days: z.int().nullable(),
    worst_case_tat_days: z.int().nullable(),
  })
  .meta({ id: 'LabTest' })

const ids = z.array(IntegerId).max(200)
const codes = z.array(Text(60)).max(200)

export const NewLabTest = z
  .object({
    name: Text(200),
    method: z.enum(methods),
    description: z.string().max(2000, 'Must have at most 2000 characters.'),
    marker_ids: ids.nullish().describe('Send either marker_ids or provider_ids.'),
    provider_ids: codes.nullish().describe("The lab's codes for the markers."),
    fasting: z.boolean().nullish().describe('Default false.'),
    lab_account_id: Id.nullish(),
    lab_slug: Text(60).nullish().describe('The lab of the provider_ids. Required if two labs use the same code.'),
  })
  .meta({ id: 'NewLabTest' })

export const OrderSet = z
  .object({
    lab_test_ids: z.array(Id).max(50).nullish(),
    add_on: z
      .object({ marker_ids: ids.nullish(), provider_ids: codes.nullish() })
      .meta({ id: 'AddOn', description: 'Send exactly one of marker_ids and provider_ids.' })
      .nullish(),
    lab_account_id: Id.nullish(),
  })
  .meta({ id: 'OrderSet' })

const filter = {
  generation_method: z
    .enum(generations)
    .default('manual')
    .describe('auto: generated for orders. manual: created in the catalog or by a team.'),
  lab_slug: z.string().max(60).nullish(),
  collection_method: z.enum(methods).nullish(),
  status: z.enum(labTestStatuses).nullish(),
  marker_ids: ids.nullish().describe('Only tests that contain all of these.'),
  provider_ids: codes.nullish().describe('Only tests that contain all of these.'),
  name: z.string().max(200).nullish().describe('A part of the name.'),
  own: z.boolean().nullish().describe('true: only tests of the team. false: only tests of the shared catalog.'),
  order_key: z.enum(['price', 'created_at', 'updated_at']).nullish().describe('Default created_at.'),
  order_direction: z.enum(['asc', 'desc']).default('asc'),
}
export const LabTestFilter = z.object(filter)

const pages = { page: z.int().min(1).max(100_000).default(1), size: z.int().min(1).max(100).default(50) }

const LabTestPricing = z
  .object({
    currency: z.literal('USD'),
    data: z.record(Safe, z.object({ pricing: Price, marker_breakdown: z.record(Safe, Price) }).meta({ id: 'LabTestPrice' })),
  })
  .meta({ id: 'LabTestPricing' })

export const LabAccount = z
  .object({
    id: Id,
    lab: Safe.describe('The slug of the lab.'),
    org_id: Id.nullable().describe('Null for an account of the operator.'),
    status: openEnum(labAccountStatuses),
    delegated_flow: openEnum(delegatedFlows),
    provider_account_id: Safe,
    account_name: Safe.nullable(),
    default_clinical_notes: Safe.nullable(),
    business_units: z.array(Safe).nullable(),
    allowed_billing: z.record(Safe, z.array(Safe)).describe('The states in which each billing type is allowed.'),
    team_id_allowlist: z.array(Id).describe('The teams that can use the account, limited to teams that the caller can see.'),
  })
  .meta({ id: 'LabAccount' })

const catalog = { auth: 'team', tag: 'Catalog', subjects: {} } as const
const noTest = { 404: 'The team has no such lab test.' }
const account = { 400: 'The lab account is unknown or belongs to another lab.' }

export const catalogEndpoints = {
  listLabTests: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_test',
    summary: 'List lab tests',
    description: 'Returns the tests of the shared catalog and the tests of the team.',
    query: z.object({
      ...filter,
      lab_test_limit: z.int().min(1).max(500).default(50),
      next_cursor: Cursor,
      include_pricing: z.boolean().default(false),
      lab_account_id: Id.nullish().describe('Only tests of the lab of this account.'),
    }),
    returns: z
      .object({ data: z.array(LabTest), next_cursor: Safe.nullable(), pricing: LabTestPricing.nullish() })
      .meta({ id: 'LabTestList' }),
    refusals: account,
  }),
  listAllLabTests: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests',
    deprecated: { since: '2025-10-01', instead: 'Use `GET /v3/lab_test`, which returns pages.' },
    summary: 'List all lab tests',
    description: 'Returns every lab test in one response.',
    query: LabTestFilter,
    returns: z.array(LabTest),
  }),
  createLabTest: endpoint({
    ...catalog,
    method: 'post',
    path: '/v3/lab_tests',
    summary: 'Create a lab test',
    subjects: { id: 'result.id' },
    description:
      'Combines markers of one lab. In the sandbox the test is active immediately; in production it is pending_approval until the operator approves it. The price is the sum of the markers, and the turnaround is that of the slowest marker.',
    body: NewLabTest,
    returns: LabTest,
    refusals: { 400: 'The markers, the lab, the method or the lab account do not fit together.' },
  }),
  listMarkers: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests/markers',
    unaudited: true,
    summary: 'List markers',
    description: 'Returns markers with their AoE questions and expected results.',
    query: z.object({
      lab_id: z.array(IntegerId).max(200).nullish(),
      lab_slug: z.string().max(60).nullish(),
      name: z.string().max(200).nullish().describe('A part of the name.'),
      a_la_carte_enabled: z.boolean().nullish(),
      include_pricing: z.boolean().default(false),
      lab_account_id: Id.nullish().describe('Only markers of the lab of this account.'),
      ...pages,
    }),
    returns: MarkerPage,
    refusals: account,
  }),
  listOrderSetMarkers: endpoint({
    ...catalog,
    method: 'post',
    path: '/v3/lab_tests/list_order_set_markers',
    reads: true,
    summary: 'List the markers of an order set',
    description: 'Resolves the lab tests and add-on markers of an order set without creating an order.',
    query: z.object(pages),
    body: OrderSet,
    returns: MarkerPage,
    refusals: { 400: 'The order set is empty, names something unknown, or spans several labs.' },
  }),
  listLabs: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests/labs',
    unaudited: true,
    summary: 'List labs',
    returns: z.array(Lab),
  }),
  listLabAccounts: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_test/lab_account',
    summary: 'List lab accounts',
    description: 'Returns the accounts that the team can use.',
    query: z.object({ lab_account_id: Id.nullish(), status: z.enum(labAccountStatuses).nullish() }),
    returns: z.object({ data: z.array(LabAccount) }).meta({ id: 'LabAccountList' }),
  }),
  getLabTest: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests/{lab_test_id}',
    summary: 'Get a lab test',
    params: LabTestId,
    query: AccountQuery,
    returns: LabTest,
    refusals: { ...account, ...noTest },
  }),
  patchLabTest: endpoint({
    ...catalog,
    method: 'patch',
    path: '/v3/lab_tests/{lab_test_id}',
    summary: 'Update a lab test',
    description:
      'Renames, archives or restores a lab test of the team. Existing orders of an archived test continue. A restored test still needs the approval that it lacked before.',
    params: LabTestId,
    body: z
      .object({ name: Text(200).nullish(), active: z.boolean().nullish().describe('false archives the test. true restores it.') })
      .meta({ id: 'LabTestPatch' }),
    returns: LabTest,
    refusals: { 400: 'The body has no field to change, or the test belongs to the shared catalog.', ...noTest },
  }),
  listLabTestMarkers: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests/{lab_test_id}/markers',
    summary: 'List the markers of a lab test',
    params: LabTestId,
    query: z.object({ ...AccountQuery.shape, ...pages }),
    returns: MarkerPage,
    refusals: { ...account, ...noTest },
  }),
  getMarker: endpoint({
    ...catalog,
    method: 'get',
    path: '/v3/lab_tests/{lab_id}/markers/{provider_id}',
    unaudited: true,
    summary: 'Get a marker',
    description: "Finds the marker by the lab's code.",
    params: z.object({ lab_id: IntegerId, provider_id: Text(60) }),
    query: AccountQuery,
    returns: Marker,
    refusals: { ...account, 404: 'The lab has no such marker.' },
  }),
}
