import { beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Row } from '../../src/contract/endpoint.ts'
import { rows } from '../../src/contract/index.ts'
import { aLink } from '../support/connections.ts'
import { fc } from '../support/properties.ts'
import { expectClientError, sendRaw } from '../support/raw.ts'
import { garbage, invalidInput, oddCursors, oddTimes, validInput } from '../support/shapes.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

describe('nearly right requests to', () => {
  test.each(rows)('%s are never an error of ours and never echo a person', async (_, row) => {
    const tenant = await w.tenant()
    const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'hostile-user' } })
    const labTest = { name: 'Hostile', description: '', method: 'walk_in_test' as const, marker_ids: [1001] }
    const { id: lab_test_id } = await tenant.api.createLabTest({ body: labTest })
    const { org_id, team_id } = tenant
    const catalogue = { lab_test_id, lab_id: 1, provider_id: 'QM10007' }
    const known = {
      ...catalogue,
      org_id,
      team_id,
      user_id,
      env: 'sandbox',
      region: 'us',
      fallback_time_zone: 'UTC',
      next_cursor: undefined,
    }
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(nearly(row, known), async (request) => {
        const answer = await fire(tenant, row, request as Fired)
        seen.add(answer.status)
        if (answer.status >= 300) expectClientError(answer)
      }),
      { seed: 20_260_301, numRuns: 25, endOnFailure: true },
    )
    expect([...seen].some((status) => status >= 400)).toBe(true)
  })
})

test.each([...oddTimes, 'soon'])('the moment %s is refused or kept, never a failure of ours', async (moment) => {
  const { admin, api, org_id, team_id } = await w.tenant()
  const calls = [
    api.createUser({ body: { client_user_id: 'bounded', ingestion_start: moment, ingestion_end: moment } }),
    api.moveClock({ body: { now: moment } }),
    admin.createTeamKey({ params: { org_id, env: 'sandbox', region: 'us' }, body: { label: 'odd', team_id, expires_at: moment } }),
  ]
  for (const answer of await Promise.all(calls.map(errorOf))) expect(answer.status).toBeLessThan(500)
})

test.each(oddCursors)('the cursor %s is refused', async (next_cursor) => {
  const { admin, org_id } = await w.tenant()
  expect(await errorOf(admin.listTeams({ params: { org_id }, query: { next_cursor } }))).toMatchObject({
    status: 422,
    detail: [{ loc: ['query', 'next_cursor'] }],
  })
})

const parts = ['params', 'query', 'body'] as const

/** Requests that are nearly right, since those reach the database: one part is spoilt, or none. */
const nearly = (row: Row, known: Record<string, unknown>) =>
  fc.constantFrom(...parts, undefined).chain((spoil) =>
    fc.record({
      unheard_of: fc.option(garbage, { nil: undefined, freq: 1 }),
      ...Object.fromEntries(parts.map((part) => [part, pieceOf(row[part], known, spoil === part)])),
    }),
  )

const pieceOf = (type: z.ZodType | undefined, known: Record<string, unknown>, spoil: boolean): fc.Arbitrary<unknown> => {
  if (!type) return spoil ? garbage : fc.constant(undefined)
  return spoil ? invalidInput(type, '', known) : validInput(type, '', known)
}

const encoded = (value: unknown) => encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed())

type Fired = { params?: unknown; query?: unknown; body?: unknown; unheard_of?: unknown }

async function credentialFor({ api, team_api_key, management_key }: Tenant, { auth }: Row): Promise<Record<string, string>> {
  if (auth === 'lab') return { 'x-lab-key': (await w.partnerLab()).lab_key }
  if (auth === 'link') return { 'x-vital-link-token': (await aLink(w.base, api)).link_token }
  return auth === 'management' ? { 'x-management-key': management_key } : { 'x-service-api-key': team_api_key }
}

async function fire(tenant: Tenant, row: Row, { params, query, body, unheard_of }: Fired) {
  const path = row.path.replace(/\{(\w+)\}/g, (_, name) => encoded((params as Record<string, unknown> | null)?.[name]) || '%20')
  const pairs = Object.entries({ unheard_of, ...(query as object | null) }).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((one) => `${encodeURIComponent(name.toWellFormed())}=${encoded(one)}`),
  )
  const headers = await credentialFor(tenant, row)
  const sent = row.method === 'get' || body === undefined ? undefined : JSON.stringify(body)
  return sendRaw(`${w.base}${path}?${pairs.join('&')}`, row.method.toUpperCase(), {
    headers,
    ...(sent === undefined ? {} : { body: sent }),
  })
}
