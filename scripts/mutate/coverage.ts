import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutations.ts'

/** The functions of each source file that a test file called, by their positions. */
export type FileCoverage = { test: string; functions: Record<string, [start: number, end: number][]> }

const cache = join(import.meta.dirname, '../../node_modules/.cache/mutate')

/** Positions hold for one content of `src`, which is committed while mutants are tried. */
export const coverageFolder = join(cache, execFileSync('git', ['rev-parse', 'HEAD:src'], { encoding: 'utf8' }).trim())

/** A run that was interrupted does not count. */
const completed = join(coverageFolder, 'completed')

export const hasCoverage = () => existsSync(completed)

/** Collects the coverage anew, in place of that of any other content. */
export function collectCoverage(run: () => void) {
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(coverageFolder, { recursive: true })
  run()
  writeFileSync(completed, '')
}

export const readCoverage = () =>
  globSync('*.json', { cwd: coverageFolder }).map((name) => JSON.parse(readFileSync(join(coverageFolder, name), 'utf8')) as FileCoverage)

/** The test files that called the innermost function around a mutant, the most specific one first. Outside functions, those that called any. */
export function testsFor({ file, offset }: Mutant, coverage: FileCoverage[]) {
  const calls = coverage.flatMap(({ test, functions }) => (functions[file] ? [{ test, called: functions[file] }] : []))
  const around = calls.flatMap(({ called }) => called.filter(([start, end]) => start <= offset && offset < end))
  const inner = around.sort(([a, b], [c, d]) => b - a - (d - c))[0]
  const isCalled = ([start, end]: [number, number]) => !inner || (start === inner[0] && end === inner[1])
  const breadth = new Map(coverage.map(({ test, functions }) => [test, Object.values(functions).flat().length]))
  return calls
    .filter(({ called }) => called.some(isCalled))
    .map(({ test }) => test)
    .sort((a, b) => (breadth.get(a) ?? 0) - (breadth.get(b) ?? 0))
}
