import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, rows } from '../../src/contract/index.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { aLink } from '../support/connections.ts'
import { isFullRun } from '../support/full-run.ts'
import { expectClientError, sendRaw } from '../support/raw-requests.ts'
import { DEFAULT_SEED, SEED, seedNumber } from '../support/seeded.ts'
import { fieldsOf, garbage, invalidInput, oddCursors, oddTimes, validInput } from '../support/shapes.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

/** Runs for each kind of request: with one invalid part, or none. */
const FULL_RUNS = 8
const RUNS = isFullRun ? FULL_RUNS : 2

/** The values of TEST_SEED with which an endpoint failed in a full run. Every run repeats them. Add yours with its fix. */
const failedSeeds: Partial<Record<EndpointName, string[]>> = {}

/** A full run has a seed of its own, and the default one too. */
const seedsFor = (name: EndpointName) => [
  ...[...new Set([SEED, DEFAULT_SEED])].map((seed) => ({ seed, runs: RUNS })),
  ...(failedSeeds[name] ?? []).map((seed) => ({ seed, runs: FULL_RUNS })),
]

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

/** A tenant and the values of its fields in a valid request. */
async function newTarget() {
  const tenant = await w.tenant()
  const { org_id, team_id } = tenant
  await setBetas(w.app, team_id, ['unmatched_results'])
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'hostile-user' } })
  const labTest = { name: 'Hostile', description: '', method: 'walk_in_test' as const, marker_ids: [1001] }
  const { id: lab_test_id } = await tenant.api.createLabTest({ body: labTest })
  const deployment = { env: 'sandbox', region: 'us', fallback_time_zone: 'UTC', next_cursor: undefined }
  return { tenant, known: { ...deployment, lab_test_id, lab_id: 1, provider_id: 'QM10007', org_id, team_id, user_id } }
}

const isReading = ({ method, reads }: Row) => method === 'get' || reads === true

let shared: ReturnType<typeof newTarget> | undefined

/** Requests that only read cannot disturb each other, so they share a tenant. */
function readTarget() {
  shared ??= newTarget()
  return shared
}

describe('almost valid requests', () => {
  test.each(rows)('to %s never cause a 5xx or echo personal data', async (name, row) => {
    const { tenant, known } = await (isReading(row) ? readTarget() : newTarget())
    const headers = await credentialFor(tenant, row)
    const kinds = almostValid(row, known).map((requests) =>
      fc.asyncProperty(requests, async (request) => {
        const response = await send(headers, row, request as RequestParts)
        if (response.status >= 300) expectClientError(response)
      }),
    )
    for (const { seed, runs } of seedsFor(name))
      for (const kind of kinds) await fc.assert(kind, { seed: seedNumber(seed), numRuns: runs, endOnFailure: true })
  })

  test.each(rows.flatMap(withInvalidRequest))('to %s are rejected if no field is valid', async (_, row, request) => {
    const { tenant } = await readTarget()
    const response = await send(await credentialFor(tenant, row), row, request)
    expectClientError(response)
    expect(response.status, 'the credential is valid').not.toBe(401)
  })
})

test.each([...oddTimes, 'soon'])('the timestamp %s never causes a 5xx', async (timestamp) => {
  const { admin, api, org_id, team_id } = await w.tenant()
  const calls = [
    api.createUser({ body: { client_user_id: 'bounded', ingestion_start: timestamp, ingestion_end: timestamp } }),
    api.moveClock({ body: { now: timestamp } }),
    admin.createTeamKey({ params: { org_id, env: 'sandbox', region: 'us' }, body: { label: 'odd', team_id, expires_at: timestamp } }),
  ]
  for (const response of await Promise.all(calls.map(errorOf))) expect(response.status).toBeLessThan(500)
})

test.each(oddCursors)('rejects the cursor %s', async (next_cursor) => {
  const { admin, org_id } = await w.tenant()
  expect(await errorOf(admin.listTeams({ params: { org_id }, query: { next_cursor } }))).toMatchObject({
    status: 422,
    detail: [{ loc: ['query', 'next_cursor'] }],
  })
})

const parts = ['params', 'query', 'body'] as const
type Part = (typeof parts)[number]

/** A kind of request for each invalid part, and one without. They are valid enough to reach the database. */
function almostValid(row: Row, known: Record<string, unknown>) {
  const requestWith = (invalidPart?: Part) =>
    fc.record({
      unknown_parameter: fc.option(garbage, { nil: undefined, freq: 1 }),
      ...Object.fromEntries(parts.map((part) => [part, valuesOf(row[part], known, invalidPart === part)])),
    })
  return [...parts, undefined].map(requestWith)
}

const valuesOf = (type: z.ZodType | undefined, known: Record<string, unknown>, invalid: boolean): fc.Arbitrary<unknown> => {
  if (!type) return invalid ? garbage : fc.constant(undefined)
  return invalid ? invalidInput(type, '', known) : validInput(type, '', known)
}

const encode = (value: unknown) => encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed())

/** A request whose fields have text that no type accepts, unless the endpoint has no input that can be invalid. */
function withInvalidRequest([name, row]: (typeof rows)[number]): [string, Row, RequestParts][] {
  const request = Object.fromEntries(parts.map((part) => [part, Object.fromEntries(fieldsOf(row[part]).map(([field]) => [field, '\0']))]))
  return parts.some((part) => row[part]?.safeParse(request[part]).success === false) ? [[name, row, request]] : []
}

type RequestParts = { params?: unknown; query?: unknown; body?: unknown; unknown_parameter?: unknown }

async function credentialFor({ api, team_api_key, management_key }: Tenant, { auth }: Row): Promise<Record<string, string>> {
  if (auth === 'lab') return { 'x-lab-key': (await w.partnerLab()).lab_key }
  if (auth === 'link') return { 'x-vital-link-token': (await aLink(w.base, api)).link_token }
  return auth === 'management' ? { 'x-management-key': management_key } : { 'x-service-api-key': team_api_key }
}

async function send(headers: Record<string, string>, row: Row, { params, query, body, unknown_parameter }: RequestParts) {
  const path = row.path.replace(/\{(\w+)\}/g, (_, name) => encode((params as Record<string, unknown> | null)?.[name]) || '%20')
  const pairs = Object.entries({ unknown_parameter, ...(query as object | null) }).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((item) => `${encodeURIComponent(name.toWellFormed())}=${encode(item)}`),
  )
  const payload = row.method === 'get' || body === undefined ? undefined : JSON.stringify(body)
  return sendRaw(`${w.base}${path}?${pairs.join('&')}`, row.method.toUpperCase(), {
    headers,
    ...(payload === undefined ? {} : { body: payload }),
  })
}
