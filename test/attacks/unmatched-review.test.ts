import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { assay } from '../cli/assay.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { file, hba1c, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { errorOf, temporaryFolder, world } from '../support/world.ts'

const w = await world({ env: fastPasswords })
const { app, api, org_id, team_id } = w
await aLabAccount(app.db, { org_id, team_id, number: 'ACC123' })
await setBetas(app, team_id, ['unmatched_results'])

async function sentOrder() {
  const { id } = await placeOrder(api, 'walk_in_test')
  await w.runJobs()
  return { id, number: (await api.getOrder({ params: { order_id: id } })).sample_id as string }
}

const queued = async (lines: string[], patient = pidOf(people[0])) => (await file(app, { patient }, lines)).unmatched[0]?.id as string

const compare = (raw_result_id: string) => api.compareUnmatchedResult({ params: { raw_result_id } })
const accept = (raw_result_id: string, body: { order_id: string; note?: string }) =>
  api.acceptUnmatchedResult({ params: { raw_result_id }, body })

describe('a result that fits no order', () => {
  test('shows its values after a reason is given, the critical ones first', async () => {
    const { number } = await sentOrder()
    const lines = [obr(number, hba1c.order), obx(hba1c, '5.1'), obr(number, potassium.order), obx(potassium, '7.9')]
    const id = await queued(lines, pidOf(people[1]))
    const { values } = await compare(id)
    expect(values).toMatchObject([
      { name: 'Potassium', result: '7.9', unit: 'mmol/L', interpretation: 'critical' },
      { result: '5.1', unit: '%', interpretation: 'normal' },
    ])
    const person = await joinOrganization(w, w, { role: 'team_admin', team_role_bindings: [{ team_id }] })
    const seen = async (headers = {}) =>
      (await person.forTeam(team_id, headers).api.compareUnmatchedResult({ params: { raw_result_id: id } })).values.map(
        (value) => value.result,
      )
    expect(await seen()).toEqual(['•••', '•••'])
    expect(await seen({ 'x-assay-reveal': 'The clinic asks for the value.' })).toEqual(['7.9', '5.1'])
  })

  test('comes before newer ones in the review, if it is critical and nobody has decided', async () => {
    const of = (number: string, value: string) => queued([obr(number, potassium.order), obx(potassium, value)])
    const [critical, solved] = [await of('CRITICAL-1', '7.9'), await of('CRITICAL-2', '8.1')]
    const normal = [await of('NORMAL-1', '4.4'), await of('NORMAL-2', '4.5')]
    await api.resolveUnmatchedResult({ params: { raw_result_id: solved }, body: { action: 'reject' } })
    const listed = []
    let next_cursor: string | null | undefined
    do {
      const page: Awaited<ReturnType<typeof api.listUnmatchedResults>> = await api.listUnmatchedResults({
        query: { sort: 'critical', limit: 2, next_cursor },
      })
      listed.push(...page.data.map(({ id }) => id))
      next_cursor = page.next_cursor
    } while (next_cursor)
    expect(listed.filter((id) => [critical, solved, ...normal].includes(id))).toEqual([critical, ...normal.toReversed(), solved])
    expect(new Set(listed).size).toBe((await api.listUnmatchedResults()).total)
    for (const query of [
      { sort: 'critical', next_cursor: (await api.listUnmatchedResults({ query: { limit: 1 } })).next_cursor },
      { sort: 'worst' },
    ])
      expect(await errorOf(api.listUnmatchedResults({ query: query as never }))).toMatchObject({ status: 422 })
  })
})

describe('accepting a result across a difference of the patient', () => {
  const { first_name, last_name, dob } = people[0]
  test.each([
    ['the first name', pidOf({ first_name: 'Zoe', last_name, dob }), ['first_name']],
    ['the last name', pidOf({ first_name, last_name: 'Odegard', dob }), ['last_name']],
    ['the birth date', pidOf({ first_name, last_name, dob: '1962-07-23' }), ['birth_date']],
    ['the sex', pidOf(people[0], 'M'), ['sex']],
    ['a birth date that the lab left out', pidOf({ first_name, last_name, dob: '' }), ['birth_date']],
    ['everything', 'PID|1', ['last_name', 'first_name', 'birth_date', 'sex']],
  ])('needs a note, by API and by CLI: %s', async (_, patient, differing) => {
    const { id: order_id, number } = await sentOrder()
    const id = await queued([obr(number, potassium.order), obx(potassium, '4.4')], patient)
    const comparison = (await compare(id)).comparisons.find((one) => one.order_id === order_id)
    expect(comparison?.needs_note).toBe(true)
    expect(comparison?.patient.flatMap(({ field, agrees }) => (agrees ? [] : [field]))).toEqual(differing)
    for (const body of [{ order_id }, { order_id, note: ' ' }, { order_id, note: '\u200b' }])
      expect(await errorOf(accept(id, body))).toMatchObject({
        status: 422,
        detail: { error_type: 'DIFFERENCE_NOTE_REQUIRED', differing },
      })
    const cli = assay(w.url, { ASSAY_URL: w.base, ASSAY_API_KEY: w.team_api_key })
    const refused = await cli.run('unmatched-results', 'accept', '--id', id, '--order', order_id, '--json')
    const { type, message } = JSON.parse(refused.err).error
    expect([refused.code, type, message]).toEqual([1, 'DIFFERENCE_NOTE_REQUIRED', expect.stringContaining(`: ${differing.join(', ')}.`)])
    expect(await api.getUnmatchedResult({ params: { raw_result_id: id } })).toMatchObject({ status: 'pending_customer_review' })
    const note = join(temporaryFolder(), 'note.txt')
    writeFileSync(note, 'Checked by phone.\n')
    await cli.json('unmatched-results', 'accept', '--id', id, '--order', order_id, '--note-file', note)
    expect(await api.getUnmatchedResult({ params: { raw_result_id: id } })).toMatchObject({ status: 'resolved', note: 'Checked by phone.' })
  })

  test('needs a note for an order that is no candidate, and none if the patient agrees', async () => {
    const { id: order_id } = await sentOrder()
    const stranger = await queued([obr('UNKNOWN-1', potassium.order), obx(potassium, '4.4')], pidOf(people[1]))
    expect((await compare(stranger)).comparisons).toEqual([])
    expect(await errorOf(accept(stranger, { order_id }))).toMatchObject({ status: 422, detail: { error_type: 'DIFFERENCE_NOTE_REQUIRED' } })
    const own = await queued([obr('UNKNOWN-2', potassium.order), obx(potassium, '4.4')])
    expect((await compare(own)).comparisons.every(({ needs_note }) => !needs_note)).toBe(true)
    expect(await accept(own, { order_id })).toMatchObject({ id: order_id })
  })
})
