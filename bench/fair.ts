import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../src/contract/client.ts'
import { readCredentials, startProcess } from '../test/support/process.ts'
import type { Load, LoadReport } from './load.ts'
import { median, ms, percentile } from './numbers.ts'
import { runLoad } from './site.ts'

type Options = { seconds: number; rounds: number; baseline: string | undefined }

const WRITES = 100
const READS = 30
const PUSHERS = 16
const SAMPLES_PER_PUSH = 90_000
const PUSHES = 4
const FIRST_DAY = Date.parse('2025-01-01')

/**
 * Measures the reads of one team alone, and beside another team with 100 parallel writes, 30 huge reads or 16 parallel pushes to one
 * day of a user, in turn. It prints and does not assert any number.
 */
export async function benchFair({ seconds, rounds, baseline }: Options) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const service = await startProcess({ DATA_DIR: dataDir, TMPDIR: process.env['TMPDIR'] }, undefined, baseline)
  try {
    const { calm, writes, reads, conflicts } = await openTeams(service.url, dataDir)
    const measure = async (beside?: Load) => {
      const other = beside && runLoad(dataDir, { ...beside, seconds: seconds + 2, isBackground: true }, { allowsRefusals: true })
      // The first second belongs to the start of the other load.
      if (other) await runLoad(dataDir, { ...calm, seconds: 1 })
      const report = await runLoad(dataDir, { ...calm, seconds })
      return { report, other: await other }
    }
    await runLoad(dataDir, { ...calm, seconds: 2 })
    console.log(`reads of one team, one at a time, ${rounds} x ${seconds} s, beside another team; default deployment\n`)
    const results: Record<string, LoadReport[]> = {}
    const others: Record<string, LoadReport[]> = {}
    for (let round = 0; round < rounds; round++)
      for (const [name, beside] of [
        ['alone'],
        [`${WRITES} parallel writes`, writes],
        [`${READS} huge reads`, reads],
        [`${PUSHERS} connections pushing one day of a user`, conflicts],
      ] as const) {
        const { report, other } = await measure(beside)
        results[name] = [...(results[name] ?? []), report]
        if (other) others[name] = [...(others[name] ?? []), other]
      }
    print(results, others)
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

function print(results: Record<string, LoadReport[]>, others: Record<string, LoadReport[]>) {
  const of = (name: string, p: number) => median((results[name] ?? []).map(({ latencies }) => percentile(latencies, p)))
  const idle = of('alone', 95)
  for (const [name, reports] of Object.entries(results)) {
    const each = reports.map(({ latencies }) => ms(percentile(latencies, 95))).join(' ')
    const served = (others[name] ?? []).map(
      ({ succeeded, seconds, failed }) => `${(succeeded / seconds).toFixed(0)}/s ${JSON.stringify(failed)}`,
    )
    console.log(`${name}: p50 ${ms(of(name, 50))}, p95 ${ms(of(name, 95))}, ${(of(name, 95) / idle).toFixed(2)} times idle (${each})`)
    if (served.length) console.log(`  the other team: ${served.join(', ')}`)
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`)
}

async function openTeams(base: string, dataDir: string) {
  const { org_id, management_key, team_api_key } = readCredentials(dataDir)
  const admin = createClient(base, { 'x-management-key': management_key })
  const team = await admin.createTeam({ params: { org_id }, body: { name: 'Busy', region: 'us' } })
  const { value } = await admin.createTeamKey({
    params: { org_id, env: 'sandbox', region: 'us' },
    body: { label: 'bench', team_id: team.id },
  })
  const calm = await teamWithSamples(base, team_api_key, 1)
  const busy = await teamWithSamples(base, value, PUSHES)
  const newPatient = async (_: unknown, i: number) => (await busy.api.createUser({ body: { client_user_id: `patient-${i}` } })).user_id
  const patients = await Promise.all(Array.from({ length: WRITES }, newPatient))
  const days = 'start_date=2025-01-05&end_date=2025-01-05'
  const all = 'start_date=1826-01-01&end_date=2026-12-31'
  const series = (user_id: string) => `/v2/timeseries/${user_id}/heartrate`
  const pushTo = (user_id: string, first: number, least?: number) => ({
    method: 'POST',
    path: series(user_id),
    body: JSON.stringify(pushOf(first, 5, least)),
  })
  // Every push changes the day, also when the requests start over.
  const pushesOfDay = (user_id: string) => [50, 51].flatMap((least) => Array.from({ length: 288 }, (_, n) => pushTo(user_id, n * 5, least)))
  const load = (headers: Load['headers'], connections: number, requests: Load['requests']): Load => ({
    base,
    headers,
    connections,
    requests,
  })
  return {
    calm: load(calm.headers, 1, [
      { method: 'GET', path: `/v2/user/${calm.user_id}` },
      { method: 'GET', path: '/v2/user?limit=20' },
      { method: 'GET', path: `${series(calm.user_id)}/grouped?${days}&downsample=1h` },
    ]),
    writes: load(
      busy.headers,
      WRITES,
      patients.flatMap((user_id, i) => Array.from({ length: 20 }, (_, n) => pushTo(user_id, i + n * WRITES))),
    ),
    conflicts: load(busy.headers, PUSHERS, pushesOfDay(patients[0] as string)),
    reads: load(busy.headers, READS, [
      { method: 'GET', path: `${series(busy.user_id)}/grouped?${all}` },
      { method: 'GET', path: `${series(busy.user_id)}/grouped?${all}&downsample=1d` },
      { method: 'GET', path: `${series(busy.user_id)}?start_date=2025-01-01&end_date=2025-02-28` },
    ]),
  }
}

/** A user with a sample per minute. */
async function teamWithSamples(base: string, key: string, pushes: number) {
  const headers = { 'x-service-api-key': key }
  const api = createClient(base, headers)
  const { user_id } = await api.createUser({ body: { client_user_id: 'bench' } })
  for (let push = 0; push < pushes; push++) {
    const body = pushOf(push * SAMPLES_PER_PUSH, SAMPLES_PER_PUSH)
    await api.pushSamples({ params: { user_id, resource: 'heartrate' }, body })
  }
  return { headers, user_id, api }
}

/** A push of samples, one per minute. */
const pushOf = (first: number, count: number, least = 50) => ({
  provider: 'freestyle_libre',
  data: Array.from({ length: count }, (_, i) => ({
    start_date: new Date(FIRST_DAY + (first + i) * 60_000).toISOString(),
    value: least + ((i * 7919) % 90),
  })),
})
