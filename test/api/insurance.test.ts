import { beforeAll, describe, expect, test } from 'vitest'
import { someInsurance } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

describe('payors', () => {
  const address = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
  const namesOf = (found: { name: string }[]) => found.map(({ name }) => name)

  test('are found by part of a name or alias', async () => {
    expect(await w.api.searchPayors({ query: { insurance_name: 'oakmea' } })).toEqual([
      {
        payor_code: 'OAKMU',
        name: 'Oakmeadow Mutual Health',
        aliases: ['Oakmeadow', 'OMH'],
        org_address: { first_line: '', second_line: '', country: '', zip: '', city: '', state: '' },
        source: 'platform',
      },
    ])
    expect(namesOf(await w.api.searchPayors({ query: { insurance_name: 'part b' } }))).toEqual(['Medicare (federal, inferred by state)'])
    expect(await w.api.searchPayors({ query: { insurance_name: 'unknown' } })).toEqual([])
    expect(await w.api.searchPayorsByBody({ body: { insurance_name: 'OMH' } })).toMatchObject([{ code: 'OAKMU', source: 'platform' }])
  })

  test('of a team are found only by that team and name the company of its insurances', async () => {
    const mine = await w.tenant()
    const other = await w.tenant()
    const payor = await mine.api.createPayor({ body: { name: 'Union Fund 7', address, provider: 'stedi', provider_payor_id: 'UF7' } })
    expect(payor).toEqual({
      payor_code: expect.stringMatching(/^TEAM-[0-9A-F]{10}$/),
      name: 'Union Fund 7',
      aliases: [],
      org_address: { ...address, second_line: '' },
      source: 'team',
    })
    expect(await mine.api.searchPayors({ query: { provider: 'stedi', provider_payor_id: 'UF7' } })).toEqual([payor])
    expect(await mine.api.searchPayorsByBody({ body: { provider_id: 'UF7' } })).toMatchObject([{ code: payor.payor_code }])
    expect(await other.api.searchPayors({ query: { insurance_name: 'Union' } })).toEqual([])

    const companyFor = async ({ api }: typeof mine) => {
      const params = await api.createUser({ body: { client_user_id: `insured-${newUuid()}` } })
      return (await api.createInsurance({ params, body: someInsurance({ payor_code: payor.payor_code }) })).company.name
    }
    expect([await companyFor(mine), await companyFor(other)]).toEqual(['Union Fund 7', payor.payor_code])
  })
})

describe('diagnosis codes', () => {
  test('are found by code or description', async () => {
    const search = async (diagnosis_query: string) =>
      (await w.api.searchDiagnoses({ query: { diagnosis_query } })).map(({ diagnosis_code }) => diagnosis_code)
    expect(await search('e785')).toEqual(['E78.5'])
    expect(await search('E78.')).toEqual(expect.arrayContaining(['E78.00', 'E78.5']))
    expect(await search('hyperlipid')).toContain('E78.5')
    expect(await search('%%')).toEqual([])
  })
  test('are validated by format', async () => {
    expect(await w.api.validateIcdCodes({ body: { codes: ['e785', 'Z99.99'] } })).toEqual({
      valid: true,
      errors: [],
      violations: [],
      warnings: [],
    })
    expect(await w.api.validateIcdCodes({ body: { codes: ['E78.5', 'fever'] } })).toMatchObject({
      valid: false,
      errors: [expect.stringContaining('codes[1]')],
    })
  })
})
