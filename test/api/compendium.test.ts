import { VitalClient } from '@tryvital/vital-node'
import { expect, test } from 'vitest'
import { placeOrder, testId } from '../support/orders.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, team_id } = w
const sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })

const search = (query: string) => api.searchCompendium({ body: { mode: 'canonical', query } })

test("finds a test by its name, a part of it, a lab's code and a LOINC code", async () => {
  const { selected_canonical: lipids } = await search('Lipid Panel')
  expect(lipids).toMatchObject({ display_name: 'Lipid Panel', confidence: 1, loinc_codes: expect.arrayContaining(['2093-3', '2085-9']) })
  for (const query of ['lipid', 'QM10007', 'lipd panel'])
    expect((await search(query)).canonical_candidates.map(({ display_name }) => display_name)).toContain('Lipid Panel')
  expect((await search('3016-3')).selected_canonical?.loinc_codes).toEqual(['3016-3'])
  expect(await search('zzzzqqq')).toMatchObject({ selected_canonical: null, canonical_candidates: [] })
})

test('a crosswalk lists the markers of each lab, with what they measure more or less', async () => {
  const { selected_canonical } = await search('Lipid Panel')
  const loinc_set_hash = selected_canonical?.loinc_set_hash as string
  const { per_lab, related } = await api.searchCompendium({ body: { mode: 'crosswalk', loinc_set_hash, labs: ['quest', 'wrenfield'] } })
  expect(Object.keys(per_lab)).toEqual(['quest', 'wrenfield'])
  expect(per_lab['quest']?.[0]).toMatchObject({ lab_slug: 'quillmoor', provider_id: 'QM10007', relation: 'exact', confidence: 1 })
  expect(per_lab['wrenfield']?.[0]).toMatchObject({ lab_slug: 'wrenfield', relation: 'exact' })
  expect(related.every(({ canonical, relation }) => canonical.loinc_set_hash !== loinc_set_hash && relation !== 'exact')).toBe(true)
})

test('converts a lab test to the codes of another lab, and names what has no equal', async () => {
  const lab_test_id = await testId(api, 'essential-wellness')
  const converted = await api.convertCompendium({ body: { lab_test_id, target_lab: 'wrenfield' } })
  expect(converted).toMatchObject({ source_lab_test_id: lab_test_id, source_lab_id: 1, target_lab_id: 2, target_lab_slug: 'wrenfield' })
  expect(converted.converted_provider_ids.every((id) => id.startsWith('WF'))).toBe(true)
  expect(converted.converted_provider_ids.length + converted.unresolved_provider_ids.length).toBe(converted.source_provider_ids.length)
  const unknown = await api.convertCompendium({ body: { provider_ids: ['QM10007', 'NOPE'], target_lab: 'wrenfield' } })
  expect(unknown).toMatchObject({
    source_lab_id: 1,
    unresolved_provider_ids: ['NOPE'],
    converted_provider_ids: [expect.stringMatching(/^WF/)],
  })
  const { candidates } = await api.searchOrderableTests({ body: { provider_ids: ['QM10007', 'NOPE'], target_lab: 'wrenfield' } })
  expect(candidates).toMatchObject({ QM10007: [{ lab_slug: 'wrenfield', relation: 'exact' }], NOPE: [] })
})

test('rejects searches that the mode does not allow, and unknown labs', async () => {
  const status = async (body: object) => (await errorOf(api.searchCompendium({ body: body as never }))).status
  expect(await status({ mode: 'canonical' })).toBe(422)
  expect(await status({ mode: 'canonical', query: 'a', loinc_set_hash: 'b' })).toBe(422)
  expect(await status({ mode: 'canonical', query: 'lipid', limit: 11 })).toBe(422)
  expect(await status({ mode: 'crosswalk', query: 'a', loinc_set_hash: 'b' })).toBe(422)
  expect(await status({ mode: 'crosswalk', query: 'lipid', labs: ['moon'] })).toBe(400)
  expect((await errorOf(api.convertCompendium({ body: { target_lab: 'quest' } }))).status).toBe(422)
})

test("keeps the team's physicians", async () => {
  const params = { team_id }
  const physicians = [
    { first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' },
    { first_name: 'Ansel', last_name: 'Corvane', npi: '1245319599' },
  ]
  expect(await api.listPhysicians({ params })).toEqual([])
  expect(await api.putPhysicians({ params, body: { physicians } })).toEqual([physicians[1], physicians[0]])
  expect(await sdk.team.getPhysicians(team_id)).toMatchObject([{ firstName: 'Ansel' }, { firstName: 'Isolde' }])
  const other = await w.tenant()
  expect((await errorOf(api.listPhysicians({ params: other }))).status).toBe(404)
  const [one] = physicians
  for (const wrong of [[one, one], [{ ...one, npi: '1234567890' }]])
    expect(await errorOf(api.putPhysicians({ params, body: { physicians: wrong as never } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'NPI_INVALID' },
    })
})

test('an order has the communication settings of its team, until it has its own', async () => {
  const { id } = await placeOrder(api)
  const params = { order_id: id }
  const ofTeam = { order_id: id, sms_enabled: true, email_enabled: true, language: 'en' }
  expect(await api.getCommunicationSettings({ params })).toEqual(ofTeam)
  expect(await api.patchCommunicationSettings({ params, body: { sms_enabled: false } })).toEqual({ ...ofTeam, sms_enabled: false })
  expect(await api.getCommunicationSettings({ params })).toEqual({ ...ofTeam, sms_enabled: false })
  const other = await w.tenant()
  expect((await errorOf(other.api.getCommunicationSettings({ params }))).status).toBe(404)
})
