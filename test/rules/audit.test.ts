import { describe, expect, test } from 'vitest'
import {
  type AuditFields,
  chainOf,
  DEPLOYMENT_CHAIN,
  endMac,
  findBreak,
  findBreakAtEnd,
  type Link,
  nextLink,
  start,
  trustedEnd,
} from '../../src/tenants/audit/rules.ts'
import { newBytes, newUuid } from '../support/seeded.ts'

const key = newBytes(32)

const chain_id = newUuid()

const aRow = (change: Partial<AuditFields> = {}): AuditFields => ({
  chain_id,
  id: newUuid(),
  at: '2026-03-01T09:30:00.000Z',
  org_id: newUuid(),
  team_id: newUuid(),
  actor_kind: 'team_key',
  actor_id: newUuid(),
  action: 'getUser',
  subject: `user_id:${newUuid()}`,
  status: 200,
  request_id: 'r-1',
  via: null,
  reason: null,
  ...change,
})

function chainRows(rows: AuditFields[]) {
  let at: Link = start
  return rows.map((row) => {
    at = nextLink(key, at, row)
    return { ...row, chain_seq: at.seq as number | null, chain_hash: at.hash as Buffer | null }
  })
}

describe('audit chain', () => {
  const rows = chainRows([aRow(), aRow(), aRow(), aRow()])
  const last = rows[3] as (typeof rows)[number]

  test('verifies in one pass and in parts', () => {
    const verified = findBreak(key, start, rows)
    expect(verified).toEqual({ at: { seq: 4, hash: last.chain_hash } })
    const half = findBreak(key, start, rows.slice(0, 2))
    expect(findBreak(key, half.at, rows.slice(2))).toEqual(verified)
  })
  test.each<Partial<AuditFields>>([
    { chain_id: newUuid() },
    { id: newUuid() },
    { at: '2026-03-01T09:30:00.001Z' },
    { org_id: null },
    { team_id: newUuid() },
    { actor_kind: 'operator' },
    { actor_id: null },
    { action: 'deleteUser' },
    { subject: null },
    { status: 404 },
    { request_id: 'r-2' },
    { via: 'console' },
    { reason: newBytes(8) },
  ])('reports the row changed to %j', (change) => {
    const tampered = rows.map((row, i) => (i === 1 ? { ...row, ...change } : row))
    expect(findBreak(key, start, tampered).broken).toEqual({ seq: 2, id: tampered[1]?.id, reason: 'the row was changed' })
  })
  test('reports a row missing in the middle and one missing at the end', () => {
    expect(findBreak(key, start, rows.toSpliced(1, 1)).broken).toMatchObject({
      seq: 2,
      reason: expect.stringContaining(rows[2]?.id as string),
    })
    expect(findBreak(key, { seq: 4, hash: last.chain_hash as Buffer }, []).broken).toEqual({ seq: 5, reason: 'the row is missing' })
  })
  test('fails verification under a different key', () => {
    expect(findBreak(newBytes(32), start, rows).broken).toMatchObject({ seq: 1 })
  })
  const end = { seq: 4, hash: last.chain_hash as Buffer }
  const headOf = (at: Link, last: number | null) => ({ chain_id, seq: at.seq, mac: endMac(key, chain_id, at), last })

  test('matches the recorded head', () => {
    expect(findBreakAtEnd(key, end, headOf(end, 4))).toBeUndefined()
    expect(findBreakAtEnd(key, start, headOf(start, null))).toBeUndefined()
    expect(findBreakAtEnd(key, start, headOf(start, 4))).toMatchObject({ seq: 1, reason: expect.stringContaining('beyond') })
    expect(findBreakAtEnd(key, end, { ...headOf(end, 4), mac: newBytes(32) })).toMatchObject({ seq: 4 })
    expect(findBreakAtEnd(key, end, { ...headOf(end, 4), chain_id: newUuid() })).toMatchObject({ seq: 4 })
  })
  test('is extended only at a recorded head that was not changed', () => {
    expect(trustedEnd(key, headOf(end, 4), end.hash)).toEqual(end)
    expect(trustedEnd(key, headOf(start, null), null)).toEqual(start)
    expect(trustedEnd(key, headOf(end, 4), null)).toBeUndefined()
    expect(trustedEnd(key, headOf(end, 4), newBytes(32))).toBeUndefined()
    expect(trustedEnd(key, { ...headOf(end, 4), seq: 0 }, null)).toBeUndefined()
    expect(trustedEnd(key, { ...headOf(end, 4), chain_id: newUuid() }, end.hash)).toBeUndefined()
  })
})

test('a row joins the chain of its team, else of its organization, else of the deployment', () => {
  const [team_id, org_id] = [newUuid(), newUuid()]
  expect(chainOf({ team_id, org_id })).toBe(team_id)
  expect(chainOf({ team_id: null, org_id })).toBe(org_id)
  expect(chainOf({ team_id: null, org_id: null })).toBe(DEPLOYMENT_CHAIN)
})
