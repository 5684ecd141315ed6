import { describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { file, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { errorOf, replica, world } from '../support/world.ts'

const w = await world()
const { app } = w
const tenant = await w.tenant()
const operated = await replica({ env: { OPERATOR_ORG_ID: tenant.org_id } })
const operator = createClient(operated.base, { 'x-management-key': tenant.management_key })

const PDF_BYTES = 1024 * 1024
const pdf = Buffer.concat([Buffer.from('%PDF-1.4 '), Buffer.alloc(PDF_BYTES, 0xb5)])
const withPdf = (number: string) => [
  obr(number, potassium.order),
  obx(potassium, '4.4'),
  `OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${pdf.toString('base64')}||||||F`,
]

const queuedWithoutTeam = async (number: string, lines = withPdf(number)) =>
  (await file(app, { account: `NOBODY-${number}`, patient: pidOf(people[1]) }, lines)).unmatched[0]?.id as string

type Row = { sealed: Buffer; documents_sealed: Buffer }
const rowOf = async (id: string) =>
  (await query<Row>(w.url, 'select sealed, documents_sealed from unassigned_results where id = $1', [id]))[0] as Row

const listed = async () => {
  const all = []
  let next_cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof operator.listUnassignedResults>> = await operator.listUnassignedResults({
      query: { limit: 2, ...(next_cursor ? { next_cursor } : {}) },
    })
    expect(page.results.length).toBeLessThanOrEqual(2)
    all.push(...page.results)
    next_cursor = page.next_cursor
  } while (next_cursor)
  return all
}

describe('a result without a team', () => {
  test('is stored with its account and its patient, and its PDF once', async () => {
    const { sealed, documents_sealed } = await rowOf(await queuedWithoutTeam('ONCE'))
    expect(sealed.length).toBeLessThan(20_000)
    expect(documents_sealed.length).toBeLessThan(1.4 * PDF_BYTES)
  })

  test('keeps its PDF for the team that gets it', async () => {
    const order = await placeOrder(tenant.api, 'walk_in_test')
    await w.runJobs()
    const number = (await tenant.api.getOrder({ params: { order_id: order.id } })).sample_id as string
    const id = await queuedWithoutTeam(number)
    expect((await listed()).find((one) => one.id === id)).toMatchObject({
      ...{ account: `NOBODY-${number}`, order_number: number, teams: [{ team_id: tenant.team_id, reasons: ['placed_order'] }] },
    })
    await setBetas(app, tenant.team_id, ['unmatched_results'])
    const { raw_result_id } = await operator.assignUnassignedResult({
      params: { unassigned_result_id: id },
      body: { team_id: tenant.team_id },
    })
    await tenant.api.acceptUnmatchedResult({ params: { raw_result_id }, body: { order_id: order.id, note: 'Maiden name.' } })
    const headers = { 'x-service-api-key': tenant.team_api_key }
    const { body } = await sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id: order.id }, headers })
    expect(pdf.equals(Buffer.from(body as Uint8Array))).toBe(true)
  })
})

describe("the operator's queue", () => {
  test('is read in pages, without opening a report', async () => {
    const ids: string[] = []
    for (const number of ['PAGE1', 'PAGE2', 'PAGE3'])
      ids.push(await queuedWithoutTeam(number, [obr(number, potassium.order), obx(potassium, '7.9')]))
    await query(w.url, 'update unassigned_results set sealed = $2 where id = any($1)', [ids, Buffer.from('unreadable')])
    const results = await listed()
    const found = results.filter(({ id }) => ids.includes(id))
    expect(found.map(({ id }) => id)).toEqual(ids)
    expect(found[0]).toMatchObject({ account: 'NOBODY-PAGE1', order_number: 'PAGE1', interpretation: 'critical' })
    const order = results.map(({ interpretation, created_at }) => `${interpretation === 'critical' ? 0 : 1} ${created_at}`)
    expect(order).toEqual(order.toSorted())
    for (const query of [{ limit: 0 }, { limit: 101 }, { next_cursor: 'unknown' }])
      expect(await errorOf(operator.listUnassignedResults({ query }))).toMatchObject({ status: 422 })
  })
})
