import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { fileLabMessages } from '../../src/labs/filing/messages.ts'
import { receiveMessage } from '../../src/labs/hl7/inbox/receive.ts'
import { type Link, linkTo } from '../../src/labs/hl7/links/connections.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { largestTurn, smallestOfThree } from '../support/event-loop.ts'
import { obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { replica, world } from '../support/world.ts'

const w = await world()
const { api, org_id, team_id } = w
await aLabAccount(w.app.db, { org_id, team_id, number: 'ACC123' })
await setBetas(w.app, team_id, ['unmatched_results'])

/** The process that files messages of the lab. The orders are placed without the connection, so nothing is sent. */
const connection = { profile: 'loi-lri-2.5.1', send: { host: '127.0.0.1', port: 1 } }
const { app } = await replica({ env: { LAB_CONNECTIONS: JSON.stringify({ quillmoor: connection }) } })
const link = linkTo(app, 'quillmoor') as Link

const MAX_PART = 1 / 3
const pdf = Buffer.concat([Buffer.from('%PDF-1.4 '), Buffer.alloc(14 * 1024 * 1024, 'kestrel55')])
const inOnePart = [`OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${pdf.toString('base64')}||||||F`]
const inManyParts = (pdf.toString('base64').match(/.{1,9990}/g) ?? []).map(
  (part) => `OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${part}||||||F`,
)

const values = Array.from({ length: 1500 }, (_, i) =>
  obx({ loinc: `9${i}-1`, name: `Measurement ${i}`, unit: 'mmol/L' }, `${i}`, 'F', { rest: '||LAB' }),
)

const large: [string, string[]][] = [
  ['a PDF of 14 MB', inOnePart],
  ['a PDF of 14 MB in two thousand segments', inManyParts],
  ['more than a thousand values', values],
]

let sent = 0
const messageOf = (account: string, number: string, lines: string[]) => {
  const header = `MSH|^~\\&|LAB|MAIN|ASSAY|${account}|20260302093000-0600||ORU^R01^ORU_R01|LARGE-${++sent}|T|2.5.1`
  return Buffer.from([header, pidOf(people[0]), obr(number, potassium.order), obx(potassium, '4.4'), ...lines, ''].join('\r'))
}

/** Receives and files a message. Returns the largest turn of both. */
const take = (message: Buffer) =>
  largestTurn(async () => {
    expect((await receiveMessage(app, link, message)).isStored).toBe(true)
    await fileLabMessages(app)
  })

const downloaded = async (order_id: string) => {
  const headers = { 'x-service-api-key': w.team_api_key }
  const { body } = await sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id }, query: { document: 1 }, headers })
  return Buffer.from(body as Uint8Array)
}

/** An order that waits for its results, with the number that the lab knows. */
async function waitingOrder() {
  const { id } = await placeOrder(api, 'walk_in_test')
  await w.runJobs()
  return { id, number: (await api.getOrder({ params: { order_id: id } })).sample_id as string }
}

const expectSmallTurns = async (run: () => Promise<number>) => expect(await smallestOfThree(MAX_PART, run)).toBeLessThan(MAX_PART)

describe('a large message of a lab never holds the event loop', () => {
  test.each(large)('%s, filed with its order', (_, lines) =>
    expectSmallTurns(async () => {
      const { id, number } = await waitingOrder()
      const part = await take(messageOf('ACC123', number, lines))
      expect((await api.getResults({ params: { order_id: id } })).results.length).toBeGreaterThan(0)
      if (lines !== values) expect(pdf.equals(await downloaded(id))).toBe(true)
      return part
    }),
  )

  test('more than a thousand values, filed again with their order', async () => {
    const { id, number } = await waitingOrder()
    const again = () => take(messageOf('ACC123', number, values))
    await again()
    await expectSmallTurns(again)
    expect((await api.getResults({ params: { order_id: id } })).results.length).toBeGreaterThan(values.length)
  })

  test('a PDF of 14 MB, in the queue of a team until someone accepts it', async () => {
    const { id } = await waitingOrder()
    await expectSmallTurns(() => take(messageOf('ACC123', `UNKNOWN-${sent}`, inOnePart)))
    const raw_result_id = (await api.listUnmatchedResults({ query: { limit: 1 } })).data[0]?.id as string
    await api.acceptUnmatchedResult({ params: { raw_result_id }, body: { order_id: id } })
    expect(pdf.equals(await downloaded(id))).toBe(true)
  })

  test('a PDF of 14 MB, in the queue of the operator', () =>
    expectSmallTurns(() => take(messageOf('NOBODY', `UNKNOWN-${sent}`, inOnePart))))
})
