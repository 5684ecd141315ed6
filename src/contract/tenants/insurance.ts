import { z } from 'zod'
import { AddressIn, AddressOut, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'

const clearingHouses = ['change_healthcare', 'availity', 'stedi', 'waystar', 'claim_md', 'apero', 'pverify'] as const
const payorSources = ['platform', 'team'] as const

const search = {
  insurance_name: z.string().max(200).nullish().describe('Part of the name or of another name of the payor.'),
  provider: z.enum(clearingHouses).nullish(),
}

const known = {
  name: Safe,
  aliases: z.array(Safe),
  org_address: safe(AddressOut),
  source: openEnum(payorSources).describe('platform: of the catalogue; team: made by the team.'),
}
const Payor = z.object({ payor_code: Safe, ...known }).meta({ id: 'Payor' })

export const NewPayor = z
  .object({
    name: Text(200),
    address: AddressIn,
    provider: z.enum(clearingHouses).nullish(),
    provider_payor_id: Text(100).nullish().describe('The id of the payor at the provider.'),
  })
  .meta({ id: 'NewPayor' })

const insurance = { auth: 'team', tag: 'Insurance', subjects: {} } as const

export const insuranceEndpoints = {
  searchPayors: endpoint({
    ...insurance,
    method: 'get',
    path: '/v3/insurance/search/payor',
    summary: 'Find payors by name',
    description: 'Payors of the catalogue and those that the team made; at most 50.',
    query: z.object({ ...search, provider_payor_id: z.string().max(100).nullish() }),
    returns: z.array(Payor),
  }),
  searchPayorsByBody: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/insurance/search/payor',
    deprecated: { since: '2025-10-01', instead: 'Use `GET /v3/insurance/search/payor`.' },
    reads: true,
    summary: 'Find payors by name',
    body: z.object({ ...search, provider_id: z.string().max(100).nullish() }).meta({ id: 'PayorQuery' }),
    returns: z.array(z.object({ code: Safe, ...known }).meta({ id: 'PayorFound' })),
  }),
  createPayor: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/payor',
    summary: 'Make a payor of the team',
    body: NewPayor,
    returns: Payor,
  }),
  searchDiagnoses: endpoint({
    ...insurance,
    method: 'get',
    path: '/v3/insurance/search/diagnosis',
    unaudited: true,
    summary: 'Find ICD-10-CM codes by the beginning of the code or a part of the label',
    query: z.object({ diagnosis_query: z.string().min(2, 'Must have at least 2 characters.').max(200) }),
    returns: z.array(z.object({ diagnosis_code: Safe, description: Safe, is_secondary: z.boolean() }).meta({ id: 'Diagnosis' })),
  }),
  validateIcdCodes: endpoint({
    ...insurance,
    method: 'post',
    path: '/v3/insurance/validate_icd_codes',
    reads: true,
    summary: 'Check ICD-10-CM codes',
    description: 'A code is valid when its format is; case and the dot do not matter.',
    body: z.object({ codes: z.array(z.string().max(50)).min(1, 'Name at least one code.').max(100) }).meta({ id: 'IcdCodes' }),
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
