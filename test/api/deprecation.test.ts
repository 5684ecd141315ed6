import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { FIRST_RELEASE } from '../../src/contract/deprecation.ts'
import { endpoints } from '../../src/contract/index.ts'
import { aNewOrder, testId, tests } from '../support/orders.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const since = `@${Date.parse(FIRST_RELEASE) / 1000}`
const key = () => ({ 'x-service-api-key': w.team_api_key })
const deprecationHeaders = ({ headers }: { headers: Headers }) => [headers.get('deprecation'), headers.get('link')]
const policy = '</docs/versioning#deprecation-and-removal>; rel="deprecation"'

describe('a deprecated query parameter', () => {
  const list = (query: object) => sendRequest(w.base, endpoints.getUserResources, { headers: key(), query })

  test('triggers a Deprecation header and a link to the policy', async () => {
    const response = await list({ cursor: 'nonsense' })
    expect(deprecationHeaders(response)).toEqual([since, policy])
  })

  test('triggers no Deprecation header when it is absent', async () => {
    expect(deprecationHeaders(await list({ user_limit: 1 }))).toEqual([null, null])
  })
})

describe('a deprecated body field', () => {
  const order = (body: object) => sendRequest(w.base, endpoints.createOrder, { headers: key(), body })

  test('triggers a Deprecation header when the order is placed', async () => {
    const { order_set, ...rest } = await aNewOrder(w.api)
    const response = await order({ ...rest, lab_test_id: order_set.lab_test_ids[0] })
    expect([response.status, ...deprecationHeaders(response)]).toEqual([200, since, policy])
  })

  test('triggers a Deprecation header when the order is rejected', async () => {
    const response = await order({ lab_test_id: await testId(w.api, tests.walk_in_test) })
    expect([response.status, ...deprecationHeaders(response)]).toEqual([422, since, policy])
  })

  test('triggers no Deprecation header when it is absent or null', async () => {
    for (const change of [{}, { lab_test_id: null, health_insurance: null }])
      expect(deprecationHeaders(await order(await aNewOrder(w.api, 'walk_in_test', change)))).toEqual([null, null])
  })
})
