import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { parseInput } from '../../src/http/input.ts'
import { Problem } from '../../src/platform/problem.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

const rows = Object.entries(endpoints as Record<string, Row>).filter(([, row]) => row.body)

/** Endpoints about users and their data. All others are about access, settings and subscriptions. */
const dataTags = [
  ...['Users', 'Insurance', 'Orders', 'Results', 'Unmatched results', 'Appointments', 'Kits', 'Catalog'],
  ...['Wearables', 'Connections', 'Link', 'Sandbox', 'Partner lab API', 'Teams'],
]
const granting = /webhook|pipeline|key|token$|member|invit|consent|scope|credential|communication_settings|courier|bulk_export/
const isAboutData = ({ auth, tag, path }: Row) => ['team', 'lab', 'link'].includes(auth) && dataTags.includes(tag) && !granting.test(path)

test.each(rows)('%s refuses unknown fields if it grants access or subscribes', (_, row) => {
  expect(row.grantsAccess ?? false, 'Set `grantsAccess` on the row, or add its tag to dataTags').toBe(!isAboutData(row))
})

const faultsOf = (row: Row, body: unknown, query = {}) => {
  try {
    parseInput(row, { params: {}, query, headers: {}, body })
  } catch (error) {
    return error instanceof Problem ? (error.detail as { type: string; loc: unknown[]; msg: string }[]) : []
  }
  return []
}
const unknownIn = (row: Row, body: unknown) => faultsOf(row, body).filter(({ type }) => type === 'unknown_field')

test.each(rows.filter(([, row]) => row.grantsAccess))('%s names an unknown field', (_, row) => {
  const faults = faultsOf(row, { wholly_unexpected: true })
  expect(faults).toContainEqual({
    type: 'unknown_field',
    loc: ['body'],
    msg: expect.stringMatching(/^A field here does not exist\. Remove it\. The known fields are [a-z0-9_, ]+\.$/),
  })
})

const filtered = Object.entries(endpoints as Record<string, Row>).filter(([, row]) => row.grantsAccess && row.query)

test.each(filtered)('%s names an unknown query parameter', (_, row) => {
  expect(faultsOf(row, undefined, { wholly_unexpected: '' })).toContainEqual({
    type: 'unknown_field',
    loc: ['query'],
    msg: expect.stringMatching(/^A field here does not exist\. Remove it\. The known fields are [a-z0-9_, ]+\.$/),
  })
})

const w = await world()

describe('over HTTP', () => {
  const webhookPath = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const deployment = { org_id: w.org_id, env: 'sandbox' as const, region: 'us' as const }
  const wrong = (...loc: (string | number)[]) => ({
    name: (nearest: string) => ({
      type: 'unknown_field',
      loc: ['body', ...loc],
      msg: `This field does not exist. Did you mean ${nearest}?`,
    }),
  })

  test('a webhook with filter_typs is refused and subscribes to nothing', async () => {
    // A client that does not know the types sends such a field.
    const body = { url: 'https://pier.example/hooks', filter_typs: ['labtest.order.created'] } as { url: string }
    const refused = await errorOf(w.admin.createWebhook({ params: webhookPath, body }))
    expect(refused).toEqual({ status: 422, detail: [wrong('filter_typs').name('filter_types')] })
    expect((await w.admin.listWebhooks({ params: webhookPath })).data).toEqual([])
  })

  test('a webhook with an empty filter is refused, because it would subscribe to everything', async () => {
    const url = 'https://pier.example/hooks'
    const empty = { status: 422, detail: [expect.objectContaining({ type: 'too_small', loc: ['body', 'filter_types'] })] }
    expect(await errorOf(w.admin.createWebhook({ params: webhookPath, body: { url, filter_types: [] } }))).toEqual(empty)
    const { id } = await w.admin.createWebhook({ params: webhookPath, body: { url, filter_types: ['labtest.*'] } })
    const params = { ...webhookPath, webhook_id: id }
    expect(await errorOf(w.admin.patchWebhook({ params, body: { filter_types: [] } }))).toEqual(empty)
    expect((await w.admin.getWebhook({ params })).filter_types).toEqual(['labtest.*'])
    await w.admin.deleteWebhook({ params })
  })

  test('a misspelled field inside an object or a list is refused', async () => {
    const binding = { team_id: w.team_id, tem_id: newUuid() }
    const key = { label: 'pier', role: 'team_admin' as const, team_role_bindings: [binding] }
    expect((await errorOf(w.admin.createManagementKey({ params: w, body: key }))).detail).toContainEqual(
      wrong('team_role_bindings', 0, 'tem_id').name('team_id'),
    )
    const limited = { label: 'pier', team_id: w.team_id, rate_limit: { requests_per_second: 5, brst: 10 } }
    expect((await errorOf(w.admin.createTeamKey({ params: deployment, body: limited }))).detail).toEqual([
      wrong('rate_limit', 'brst').name('burst'),
    ])
  })

  test('a link token with a misspelled filter is refused, because it would open every source', async () => {
    const { user_id } = await w.api.createUser({ body: { client_user_id: 'pier' } })
    const body = { user_id, filter_on_provider: ['oura'] }
    expect((await errorOf(w.api.createLinkToken({ body }))).detail).toEqual([wrong('filter_on_provider').name('filter_on_providers')])
  })

  test('an export of connections with a misspelled user_ids is refused, because it would export every user', async () => {
    const body = { provider: 'oura' as const, user_id: [newUuid()] }
    expect(await errorOf(w.api.bulkExport({ body }))).toEqual({ status: 422, detail: [wrong('user_id').name('user_ids')] })
  })

  test.each(['listEvents', 'streamEvents'] as const)(
    '%s refuses a misspelled filter, because it would return every event',
    async (name) => {
      const query = { event_typ: 'labtest.order.created' }
      const { status, body } = await sendRequest(w.base, endpoints[name], { query, headers: { 'x-service-api-key': w.team_api_key } })
      const detail = [{ type: 'unknown_field', loc: ['query', 'event_typ'], msg: 'This field does not exist. Did you mean event_type?' }]
      expect({ status, body }).toEqual({ status: 422, body: { detail } })
    },
  )

  test('other faults of the request are reported too', async () => {
    const body = { url: 5 as unknown as string, disabld: true }
    const { detail } = await errorOf(w.admin.createWebhook({ params: webhookPath, body }))
    expect(detail).toMatchObject([{ type: 'type_error' }, { loc: ['body', 'disabld'] }])
  })

  test('fields of an unsupported destination still get the response that names an alternative', async () => {
    const body = { team_ids: [w.team_id], azure_amqp: { connection_string: 'Endpoint=pier', default_event_hub: 'health' } }
    const { detail } = await errorOf(w.admin.upsertPipelines({ params: deployment, body }))
    expect(JSON.stringify(detail)).not.toContain('unknown_field')
  })
})

test('a name that resembles no field is not repeated, because it may be that of a patient', () => {
  expect(JSON.stringify(faultsOf(endpoints.createWebhook, { Zephyrine: 1 }))).not.toContain('Zephyrine')
})

test('thousands of unknown fields, and very long ones, are not all compared', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`url${n}`, n]))
  const [row, long] = [endpoints.createWebhook, 'x'.repeat(100_000)]
  expect(unknownIn(row, many)).toHaveLength(11)
  expect(JSON.stringify(unknownIn(row, { [long]: 1 })).length).toBeLessThan(500)
})
