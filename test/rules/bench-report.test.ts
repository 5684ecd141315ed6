import { describe, expect, test } from 'vitest'
import { quotedReport, type Report, type Row, reportPage, withBaseline } from '../../bench/report-page.ts'

const pageOf = (rows: Row[], change: Partial<Report> = {}) =>
  reportPage({
    command: 'npm run bench',
    commit: 'abc1234',
    at: '2026-11-17 06:00 UTC',
    machine: ['A processor, 2 cores', 'PostgreSQL 18'],
    small: false,
    sections: [{ title: 'Orders', method: 'Five rounds.', load: [0.25, 1.96], rows }],
    ...change,
  })

const tableOf = (rows: Row[]) =>
  pageOf(rows)
    .split('\n')
    .slice(-(rows.length + 3), -1)
const time = (name: string, value: number): Row => ({ name, value, unit: 'ms' })

describe('a table', () => {
  test('shows what ran beside a measurement and the ratio to it', () => {
    const row: Row = { name: 'Held', value: 612.4, unit: '/s', reference: { name: 'pgbench', value: 1224.8 } }
    expect(tableOf([row, time('p50', 12.5)])).toEqual([
      '| Measurement | Result | Reference | Ratio |',
      '|---|---|---|---|',
      '| Held | 612/s | 1,220/s, pgbench | 0.5 |',
      '| p50 | 12.5 ms |  |  |',
    ])
  })
  test('has no ratio to a tool that is not installed', () => {
    const row: Row = { name: 'Held', value: 600, unit: '/s', reference: { name: 'pgbench', value: Number.NaN } }
    expect(tableOf([row]).at(-1)).toBe('| Held | 600/s | –, pgbench | – |')
  })
  test('has no ratio to nothing', () => {
    expect(tableOf([{ ...time('Idle', 1), reference: { name: 'undici alone', value: 0 } }]).at(-1)).toBe(
      '| Idle | 1 ms | 0 ms, undici alone | – |',
    )
  })
  test('shows the ratio to the last landing if that ran in turn', () => {
    const rows = withBaseline([
      [time('a', 6), time('b', 3)],
      [time('a', 4), time('b', 4)],
    ])
    expect(tableOf(rows)).toEqual([
      '| Measurement | Result | Reference | Ratio | Ratio to the last landing |',
      '|---|---|---|---|---|',
      '| a | 6 ms |  |  | 1.5 |',
      '| b | 3 ms |  |  | 0.75 |',
    ])
    expect(tableOf(withBaseline([[time('a', 6)]]))[0]).toBe('| Measurement | Result | Reference | Ratio |')
  })
})

describe('a report', () => {
  test('names the command, the commit, the time, the machine and its load', () => {
    const page = pageOf([]).replaceAll('\n', ' ')
    expect(page).toContain('`npm run bench` wrote this report at 2026-11-17 06:00 UTC from commit abc1234.')
    expect(page).toContain('A processor, 2 cores. PostgreSQL 18.')
    expect(page).toContain('Five rounds. Load of the machine: 0.3 before, 2.0 after.')
  })
  test('names the commit of the last landing', () => {
    expect(pageOf([], { baseline: 'def5678' }).replaceAll('\n', ' ')).toContain('that of commit def5678, the last landing')
    expect(pageOf([])).not.toContain('landing')
  })
  test('says when it comes from a small run', () => {
    expect(pageOf([], { small: true })).toContain('This is a small run')
    expect(pageOf([])).not.toContain('small run')
  })
  test('is quoted without its title, with its headings one level down', () => {
    const quoted = quotedReport(pageOf([time('a', 4)])).join('\n')
    expect(quoted).not.toMatch(/^##? /m)
    expect(quoted).toMatch(/^### Orders$/m)
    expect(quoted).toContain('| a | 4 ms |')
  })
})
