import { createSecretKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type AuditFields,
  chainOf,
  DEPLOYMENT_CHAIN,
  endMac,
  isCovered,
  type Link,
  nextLink,
  OPEN_SEGMENT,
  refusedLink,
  rowMac,
  segmentStart,
  start,
  trustedEnd,
  verifiedMac,
} from '../../src/tenants/audit/rules.ts'
import { type ChainedRow, findBreakAtEnd, walkRows } from '../../src/tenants/audit/rules-walk.ts'
import { newBytes, newUuid } from '../support/seeded.ts'

const newHmacKey = () => createSecretKey(newBytes(32))
const key = newHmacKey()

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

const signed = (row: AuditFields) => ({ ...row, mac: rowMac(key, row) as Buffer | null })

function chainRows(rows: ReturnType<typeof signed>[], from: Link = start): ChainedRow[] {
  let at = from
  return rows.map((row) => {
    at = nextLink(key, at, row)
    return { ...row, chain_seq: at.seq, chain_hash: at.hash }
  })
}

const changes: Partial<AuditFields>[] = [
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
]

describe('audit chain', () => {
  const rows = chainRows([aRow(), aRow(), aRow(), aRow()].map(signed))
  const last = rows[3] as ChainedRow
  const breaksOf = (rows: ChainedRow[], from: Link = start) => walkRows([key], from, rows).breaks

  test('verifies in one pass and in parts', () => {
    const verified = walkRows([key], start, rows)
    expect(verified).toEqual({ at: { seq: 4, hash: last.chain_hash }, breaks: [] })
    const half = walkRows([key], start, rows.slice(0, 2))
    expect(walkRows([key], half.at, rows.slice(2))).toEqual(verified)
  })
  test.each(changes)('reports only the row changed to %j, with and without its MAC', (change) => {
    for (const mac of [{}, { mac: null }]) {
      const tampered = rows.map((row, i) => (i === 1 ? { ...row, ...change, ...mac } : row))
      expect(breaksOf(tampered)).toEqual([{ seq: 2, to: 2, id: tampered[1]?.id, reason: 'changed' }])
    }
  })
  test('reports only the row whose hash was changed', () => {
    const tampered = rows.map((row, i) => (i === 1 ? { ...row, chain_hash: newBytes(32) } : row))
    expect(breaksOf(tampered)).toEqual([{ seq: 2, to: 2, id: rows[1]?.id, reason: 'changed' }])
  })
  test('reports rows missing in the middle as one break and trusts the MAC of the next row', () => {
    expect(breaksOf(rows.toSpliced(1, 2))).toEqual([{ seq: 2, to: 3, reason: 'missing' }])
    const forged = rows.toSpliced(1, 2).map((row, i) => (i === 1 ? { ...row, action: 'forged' } : row))
    expect(breaksOf(forged)).toMatchObject([
      { seq: 2, to: 3 },
      { seq: 4, to: 4, reason: 'changed' },
    ])
  })
  test('reports a second row at the same position', () => {
    const [first, ...others] = rows as [ChainedRow, ...ChainedRow[]]
    const added = { ...chainRows([signed(aRow())])[0], chain_seq: 1 } as ChainedRow
    expect(breaksOf([first, added, ...others])).toEqual([{ seq: 1, to: 1, id: added.id, reason: 'changed' }])
  })
  test('goes on after a row that Assay did not write, and reports it', () => {
    const forged = { ...aRow(), mac: null }
    const link = refusedLink(key, { seq: 4, hash: last.chain_hash as Buffer }, forged)
    const next = chainRows([signed(aRow())], link)
    const chained = [...rows, { ...forged, chain_seq: link.seq, chain_hash: link.hash }, ...next]
    expect(breaksOf(chained)).toEqual([{ seq: 5, to: 5, id: forged.id, reason: 'refused' }])
  })
  test('continues in a segment, and the positions before it stay a break', () => {
    const segment = chainRows([aRow({ action: OPEN_SEGMENT }), aRow()].map(signed), segmentStart(8))
    expect(breaksOf([...rows, ...segment])).toEqual([{ seq: 5, to: 7, reason: 'missing' }])
    const forged = segment.map((row, i) => (i === 0 ? { ...row, subject: 'forged' } : row))
    expect(breaksOf([...rows, ...forged])).toMatchObject([
      { seq: 5, to: 7 },
      { seq: 8, to: 8, reason: 'changed' },
    ])
  })
  test('fails verification under a different key', () => {
    expect(walkRows([newHmacKey()], start, rows).breaks).toMatchObject([{ seq: 1, to: 4 }])
  })
  const end = { seq: 4, hash: last.chain_hash as Buffer }
  const headOf = (at: Link) => ({ chain_id, seq: at.seq, mac: endMac(key, chain_id, at) })

  test('matches the recorded head', () => {
    expect(findBreakAtEnd([key], end, headOf(end))).toBeUndefined()
    expect(findBreakAtEnd([key], start, headOf(start))).toBeUndefined()
    expect(findBreakAtEnd([key], end, headOf(start))).toEqual({ seq: 5, to: 5, reason: 'beyond_end' })
    expect(findBreakAtEnd([key], start, headOf(end))).toEqual({ seq: 1, to: 4, reason: 'missing' })
    expect(findBreakAtEnd([key], end, undefined)).toEqual({ seq: 5, to: 5, reason: 'end_missing' })
    expect(findBreakAtEnd([key], end, { ...headOf(end), mac: newBytes(32) })).toEqual({ seq: 5, to: 5, reason: 'end_changed' })
    expect(findBreakAtEnd([key], end, { ...headOf(end), chain_id: newUuid() })).toMatchObject({ reason: 'end_changed' })
  })
  test('is extended only at a recorded head that was not changed', () => {
    expect(trustedEnd([key], headOf(end), end.hash)).toEqual(end)
    expect(trustedEnd([key], headOf(start), null)).toEqual(start)
    expect(trustedEnd([key], headOf(end), null)).toBeUndefined()
    expect(trustedEnd([key], headOf(end), newBytes(32))).toBeUndefined()
    expect(trustedEnd([key], { ...headOf(end), seq: 0 }, null)).toBeUndefined()
    expect(trustedEnd([key], { ...headOf(end), chain_id: newUuid() }, end.hash)).toBeUndefined()
  })
})

test.each(changes)('the MAC of a row depends on %j', (change) => {
  const row = aRow()
  expect(rowMac(key, { ...row, ...change })).not.toEqual(rowMac(key, row))
})

test('the MAC of a row is the same for the text that the database returns', () => {
  const row = aRow({ subject: 'id:\ud800' })
  expect(rowMac(key, row)).toEqual(rowMac(key, { ...row, subject: 'id:\ufffd' }))
})

test('ranges cover a break together, but not with a gap', () => {
  const ranges = [
    { seq: 6, to: 8 },
    { seq: 3, to: 5 },
  ]
  expect(isCovered({ seq: 4, to: 7 }, ranges)).toBe(true)
  expect(isCovered({ seq: 4, to: 9 }, ranges)).toBe(false)
  expect(isCovered({ seq: 2, to: 4 }, ranges)).toBe(false)
  expect(
    isCovered({ seq: 3, to: 8 }, [
      { seq: 3, to: 5 },
      { seq: 7, to: 8 },
    ]),
  ).toBe(false)
})

test('a verification is remembered with the breaks before it', () => {
  const at = { seq: 9, hash: newBytes(32) }
  const mac = verifiedMac(key, chain_id, at, [{ seq: 3, to: 5 }])
  expect(
    verifiedMac(key, chain_id, at, [
      { seq: 12, to: 12 },
      { seq: 3, to: 5 },
    ]),
  ).toEqual(mac)
  expect(verifiedMac(key, chain_id, at, [])).not.toEqual(mac)
  expect(verifiedMac(key, chain_id, { ...at, seq: 8 }, [{ seq: 3, to: 5 }])).not.toEqual(mac)
})

test('a row joins the chain of its team, else of its organization, else of the deployment', () => {
  const [team_id, org_id] = [newUuid(), newUuid()]
  expect(chainOf({ team_id, org_id })).toBe(team_id)
  expect(chainOf({ team_id: null, org_id })).toBe(org_id)
  expect(chainOf({ team_id: null, org_id: null })).toBe(DEPLOYMENT_CHAIN)
})
