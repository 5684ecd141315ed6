import { describe, expect, test } from 'vitest'
import { quotedReport, type Report, type Row, reportPage } from '../../bench/report-page.ts'

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

const rowOf = (row: Row) => pageOf([row]).split('\n').at(-2)

describe('a row', () => {
  test('shows the limit of the same run and the ratio to it', () => {
    const row: Row = { name: 'Held', value: 612.4, unit: '/s', limit: { name: 'pgbench', value: 1224.8 } }
    expect(rowOf(row)).toBe('| Held | 612/s | 1,220/s, pgbench | 0.5 |  |')
  })
  test.each([
    ['a rate that is too low', { value: 1399, unit: '/s', target: { atLeast: 1400 } }, '≥ 1,400/s, missed'],
    ['a rate that is just enough', { value: 1400, unit: '/s', target: { atLeast: 1400 } }, '≥ 1,400/s, met'],
    ['a time that is short enough', { value: 10, unit: 'ms', target: { atMost: 10 } }, '≤ 10 ms, met'],
    ['a time that is too long', { value: 10.1, unit: 'ms', target: { atMost: 10 } }, '≤ 10 ms, missed'],
    ['a share', { value: 0.69, unit: '% of a core', target: { atMost: 0.7 } }, '≤ 0.7% of a core, met'],
    [
      'a ratio, whatever the number',
      { value: 90, unit: '/s', limit: { name: 'pgbench', value: 100 }, target: { of: 'ratio', atLeast: 0.6 } },
      'ratio ≥ 0.6, met',
    ],
  ] satisfies [string, Omit<Row, 'name'>, string][])('judges %s', (_, row, cell) => {
    expect(rowOf({ name: 'Any', ...row })).toMatch(new RegExp(`\\| ${cell} \\|$`))
  })
  test('without a measurement neither meets nor misses its target', () => {
    const row: Row = {
      name: 'Held',
      value: 600,
      unit: '/s',
      limit: { name: 'pgbench', value: Number.NaN },
      target: { of: 'ratio', atLeast: 0.6 },
    }
    expect(rowOf(row)).toBe('| Held | 600/s | –, pgbench | – | ratio ≥ 0.6, not measured |')
    expect(pageOf([row])).toContain('It meets 0 of 0 targets.')
  })
})

describe('a report', () => {
  const time = (name: string, value: number): Row => ({ name, value, unit: 'ms', target: { atMost: 5 } })

  test('names the command, the commit, the time, the machine and its load', () => {
    const page = pageOf([]).replaceAll('\n', ' ')
    expect(page).toContain('`npm run bench` wrote this report at 2026-11-17 06:00 UTC from commit abc1234.')
    expect(page).toContain('A processor, 2 cores. PostgreSQL 18.')
    expect(page).toContain('Five rounds. Load of the machine: 0.3 before, 2.0 after.')
  })
  test('counts the targets that it meets', () => {
    expect(pageOf([time('a', 4), time('b', 6), { name: 'c', value: 1, unit: 's' }])).toContain('It meets 1 of 2 targets.')
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
