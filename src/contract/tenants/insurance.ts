import { z } from 'zod'
import { AddressIn, AddressOut, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'

const clearingHouses = ['change_healthcare', 'availity', 'stedi', 'waystar', 'claim_md', 'apero', 'pverify'] as const
const payorSources = ['platform', 'team'] as const

const searchFields = {
  insurance_name: z.string().max(200).nullish().describe('A part of the name or an alias of the payor.'),
  provider: z.enum(clearingHouses).nullish(),
}

const payorFields = {
  name: Safe,
  aliases: z.array(Safe),
  org_address: safe(AddressOut),
  source: openEnum(payorSources).describe('platform: from the shared catalog. team: created by the team.'),
}
const Payor = z.object({ payor_code: Safe, ...payorFields }).meta({ id: 'Payor' })

export const NewPayor = z
  .object({
    name: Text(200),
    address: AddressIn,
    provider: z.enum(clearingHouses).nullish(),
    provider_payor_id: Text(100).nullish().describe('The ID of the payor at the clearing house.'),
  })
  .meta({ id: 'NewPayor' })

const insurance = { auth: 'team', tag: 'Insurance', subjects: {} } as const

export const insuranceEndpoints = {
  searchPayors: endpoint({
    ...insurance,
    method: 'get',
    path: '/v3/insurance/search/payor',
    summary: 'Search payors',
    description: 'Searches the shared catalog and the payors of the team by name or alias. Returns at most 50 payors.',
    query: z.object({ ...searchFields, provider_payor_id: z.string().max(100).nullish() }),
    returns: z.array(Payor),
  }),
  searchPayorsByBody: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/insurance/search/payor',
    deprecated: { since: '2025-10-01', instead: 'Use `GET /v3/insurance/search/payor`.' },
    reads: true,
    summary: 'Search payors (deprecated)',
    body: z.object({ ...searchFields, provider_id: z.string().max(100).nullish() }).meta({ id: 'PayorQuery' }),
    returns: z.array(z.object({ code: Safe, ...payorFields }).meta({ id: 'PayorMatch' })),
  }),
  createPayor: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/payor',
    summary: 'Create a payor',
    description: 'Use it for a payor that the shared catalog lacks. Only the team can see it.',
    body: NewPayor,
    returns: Payor,
  }),
  searchDiagnoses: endpoint({
    ...insurance,
    method: 'get',
    path: '/v3/insurance/search/diagnosis',
    unaudited: true,
    summary: 'Search diagnosis codes',
    description: 'Matches the prefix of an ICD-10-CM code, or a part of its description.',
    query: z.object({ diagnosis_query: z.string().min(2, 'Must have at least 2 characters.').max(200) }),
    returns: z.array(z.object({ diagnosis_code: Safe, description: Safe, is_secondary: z.boolean() }).meta({ id: 'Diagnosis' })),
  }),
  validateIcdCodes: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/insurance/validate_icd_codes',
    reads: true,
    summary: 'Validate ICD-10-CM codes',
    description: 'Checks the format only. Case and the dot do not matter.',
    body: z.object({ codes: z.array(z.string().max(50)).min(1, 'Send at least one code.').max(100) }).meta({ id: 'IcdCodes' }),
    returns: z
      .object({
        valid: z.boolean(),
        errors: z.array(Safe),
        violations: z.array(z.object({ code: Safe, conflicts_with: Safe, type: Safe })),
        warnings: z.array(z.object({ code: Safe, overlaps_with: Safe, type: Safe })),
      })
      .meta({ id: 'IcdVerdict' }),
  }),
}
