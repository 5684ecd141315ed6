import { z } from 'zod'
import { Id, Text } from '../../../contract/common.ts'
import { AoE, billingTypes, IntegerId, labTestStatuses, sampleTypes, usStates } from '../../../contract/labs/catalog.ts'
import { Hours } from '../../../contract/labs/hours.ts'
import { methods } from '../../../contract/labs/lifecycle.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { isTimeZone } from '../../../platform/time.ts'
import { type Fault, referenceFaults } from './references.ts'

const Slug = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,59}$/, 'Must be 1 to 60 lowercase letters, digits, - or _.')
const State = z.enum(usStates, 'Must be the two-letter code of a US state.')
const Zone = z.string().refine(isTimeZone, 'Must be an IANA time zone, such as America/Phoenix.')
const Dollars = z.string().regex(/^\d{1,7}(\.\d{1,2})?$/, 'Must be an amount in US dollars as a string, such as "18.00".')
const Days = z.int().min(0).max(1000).nullable()
const Description = z.string().max(2000).nullable()
const Document = z.record(z.string(), z.unknown()).nullish()
const samples = z.array(z.enum(sampleTypes)).min(1)
const turnaround = { common_tat_days: Days, worst_case_tat_days: Days }

const LabInFile = z.object({
  id: IntegerId,
  slug: Slug,
  aliases: z.array(Slug).max(10).default([]).describe('Names under which clients of the Junction API know the lab.'),
  name: Text(200),
  first_line_address: Text(200),
  city: Text(100),
  state: State,
  zipcode: Text(20),
  collection_methods: z.array(z.enum(methods)).min(1),
  sample_types: samples,
  iana_timezone: Zone,
  clia_number: Text(20),
  supports_stat: z.boolean(),
  supports_redraw: z.boolean(),
  supported_bill_types: z.array(z.enum(billingTypes)).min(1),
  excluded_states: z.array(State),
  physician_required_states: z.array(State),
  name_rules: z.record(z.string(), z.unknown()),
  interface: Text(60),
})

const AnalyteInFile = z.object({
  slug: Slug,
  name: Text(200),
  description: Description,
  loinc: z.string().regex(/^\d{1,7}-\d$/, 'Must be a LOINC code, such as 2093-3.'),
  unit: Text(40).nullable(),
  result_type: Text(40),
  reference_range: Document,
  critical: Document,
  decimals: z.int().min(0).max(10).nullish(),
  sim: Document,
  expected_value: z.string().max(200).nullish(),
})

const MarkerInFile = z.object({
  slug: Slug,
  name: Text(200),
  description: Description,
  type: z.enum(['biomarker', 'panel']),
  unit: Text(40).nullable(),
  loinc: Text(20).nullable(),
  fasting: z.boolean(),
  aoe: AoE.nullable(),
  expected_results: z.array(Slug).min(1).describe('Slugs of analytes, in the order of a report.'),
})

const LabMarkerInFile = z.object({
  id: IntegerId,
  lab_id: IntegerId,
  marker_slug: Slug,
  provider_id: Text(60),
  price: Dollars,
  sample_types: samples,
  a_la_carte_enabled: z.boolean(),
  is_orderable: z.boolean(),
  ...turnaround,
})

const LabTestInFile = z.object({
  id: Id,
  lab_id: IntegerId,
  slug: Slug,
  name: Text(200),
  description: z.string().max(2000),
  method: z.enum(methods),
  sample_type: z.enum(sampleTypes),
  price: z.number().min(0).max(10_000_000),
  status: z.enum(labTestStatuses),
  fasting: z.boolean(),
  has_collection_instructions: z.boolean(),
  marker_ids: z.array(IntegerId).min(1),
  ...turnaround,
})

const ServiceCenterInFile = z.object({
  site_code: Text(60),
  lab_slug: Slug,
  name: Text(200),
  first_line: Text(200),
  city: Text(100),
  state: State,
  zip: Text(20),
  iana_timezone: Zone,
  lat: z.number().min(-90).max(90),
  lng: z.number().min(-180).max(180),
  capabilities: z.array(Text(60)),
  phone_number: Text(40).nullable().default(null),
  hours: Hours.nullable().default(null),
})

const ZipCode = z.string().regex(/^\d{5}$/, 'Must be a ZIP code of five digits.')

const PhlebotomyAreaInFile = z
  .object({
    zip: ZipCode,
    state: State,
    tier: z.enum(['appointment_ready', 'appointment_request']),
    provider: Slug.optional(),
    iana_timezone: Zone,
  })
  .transform((area) => ({ ...area, provider: area.provider ?? publicProviders[area.tier] }))

/** Typed clients of the Junction API accept only these names. */
const publicProviders = { appointment_ready: 'getlabs', appointment_request: 'phlebfinders' }

const ZipCodeInFile = z.object({ zip: ZipCode, lat: z.number().min(-90).max(90), lng: z.number().min(-180).max(180) })

const PayorInFile = z.object({
  payor_code: Text(60).refine(
    (code) => !code.startsWith('TEAM-'),
    'Must not start with TEAM-, which is reserved for payors that teams create.',
  ),
  name: Text(200),
  aliases: z.array(Text(200)),
})

const CatalogFile = z.object({
  labs: z.array(LabInFile).min(1),
  analytes: z.array(AnalyteInFile),
  markers: z.array(MarkerInFile),
  lab_markers: z.array(LabMarkerInFile),
  lab_tests: z.array(LabTestInFile),
  patient_service_centers: z.array(ServiceCenterInFile).default([]),
  phlebotomy_coverage: z.array(PhlebotomyAreaInFile).default([]),
  zip_codes: z.array(ZipCodeInFile).default([]),
  payors: z.array(PayorInFile).default([]),
  icd10_starter: z.array(z.object({ code: Text(10), label: Text(300) })).default([]),
})
export type Catalog = z.output<typeof CatalogFile>

const MAX_LISTED_FAULTS = 20

/** Parses a catalog file; throws a problem that names every invalid field. */
export function readCatalog(text: string): Catalog {
  const parsed = CatalogFile.safeParse(parseJson(text))
  if (!parsed.success) throw invalidCatalog(parsed.error.issues)
  const faults = referenceFaults(parsed.data)
  if (faults.length) throw invalidCatalog(faults)
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw setupProblem('The catalog file is not valid JSON')
  }
}

function invalidCatalog(faults: Fault[]) {
  const listed = faults.slice(0, MAX_LISTED_FAULTS).map(({ path, message }) => `  ${formatPath(path) || 'the file'}: ${message}`)
  const more = faults.length > MAX_LISTED_FAULTS ? [`  and ${faults.length - MAX_LISTED_FAULTS} more`] : []
  return setupProblem(['The catalog file is not valid:', ...listed, ...more].join('\n'))
}

/** Formats a path as in `lab_tests[3].marker_ids[0]`. */
const formatPath = (path: PropertyKey[]) =>
  path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`), '')
