import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const keys = { ASSAY_API_KEY: w.team_api_key, ASSAY_MANAGEMENT_KEY: w.management_key }
const at = ['--org', w.org_id, '--team', w.team_id]

type Report = {
  score: number
  passed: number
  failed: number
  skipped: number
  families: { name: string; checks: { name: string; state: string; text?: string }[] }[]
}
const checksIn = ({ families }: Report, state: string) => families.flatMap(({ checks }) => checks).filter((check) => check.state === state)

test('this server passes every check, and no user remains', async () => {
  const { code, out, err } = await assay(w.url, { ASSAY_URL: w.base, ...keys }).run('conformance', '--json', ...at)
  const report = JSON.parse(out) as Report
  expect(checksIn(report, 'failed')).toEqual([])
  expect([code, report.score, report.passed > 45]).toEqual([0, 100, true])
  expect(checksIn(report, 'skipped').map(({ text }) => text)).toEqual(Array(report.skipped).fill('the server has no wearable data'))
  expect(err).toMatch(/^checks \d+ of \d+/)
  expect((await w.api.listUsers()).total).toBe(0)
})

test('skips management checks without a management key and prints a line per check', async () => {
  const { code, out } = await assay(w.url, { ASSAY_URL: w.base, ASSAY_API_KEY: w.team_api_key }).run('conformance')
  expect(code).toBe(0)
  expect(out).toMatch(/^Management\n {2}skipped {2}returns the organization: there is no management key/m)
  expect(out).toMatch(/^score 100%: \d+ passed, 0 failed, \d+ skipped$/m)
})

test('reports the failures of another server', async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"users":[]}')).listen(
    0,
    '127.0.0.1',
  )
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(async () => server.close())
  const ASSAY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, out } = await assay(w.url, { ASSAY_URL, ...keys }).run('conformance', '--json', ...at)
  const report = JSON.parse(out) as Report
  expect([code, report.score < 20]).toEqual([1, true])
  expect(checksIn(report, 'failed')).toContainEqual({
    name: 'rejects a request without a key, with JSON',
    spec: 'Authentication 1',
    state: 'failed',
    text: 'returned 200 instead of 401 or 403',
  })
})
