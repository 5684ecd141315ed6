import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { seededRandom } from '../src/platform/seeded-random.ts'
import { UNCHECKED_STATEMENTS } from '../test/support/statements.ts'
import { collectCoverage, hasCoverage, readCoverage, testsFor } from './mutate/coverage.ts'
import { applyMutant, findMutants, type Mutant } from './mutate/mutations.ts'

/** The most specific tests notice a mutant, if any does. */
const MAX_TEST_FILES = 8
/** A mutant that loops forever counts as killed. */
const TIMEOUT_MS = 5 * 60_000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '40' },
    skip: { type: 'string', default: '0' },
    seed: { type: 'string', default: 'assay' },
    without: { type: 'string', multiple: true, default: [] },
    coverage: { type: 'boolean', default: false },
  },
})
const [sample, skip] = [Number(values.sample), Number(values.skip)]
if (!Number.isInteger(sample) || sample < 1 || !Number.isInteger(skip) || skip < 0) {
  console.error(`Usage: npm run mutate -- --sample 40 [--skip 0] [--seed TEXT] [--without PATH]… [--coverage]
Applies a sample of small mutations to rules and stores, one at a time, and runs the tests that call the mutated function.
--skip 40 continues after a sample of 40. --without leaves out files whose path contains PATH. --coverage runs the suite to find out again which tests call which functions.`)
  process.exit(2)
}
const changed = spawnSync('git', ['status', '--porcelain', 'src'], { encoding: 'utf8' }).stdout
if (changed) {
  console.error(`Commit your changes first, because mutations are written to src:\n${changed}`)
  process.exit(2)
}

if (values.coverage || !hasCoverage()) {
  console.log('Running the suite to find out which tests call which functions.')
  collectCoverage(() => vitest(['--config', 'scripts/coverage.vitest.config.ts'], 'inherit'))
}
const coverage = readCoverage()
const files = globSync('src/**/{rules,store}*.ts').filter((file) => !values.without.some((part) => file.includes(part)))
const mutants = shuffled(files.sort().flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))).slice(skip, skip + sample)

// Between two mutants, when the file has its text again.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const passing = new Set<string>()
const survivors: Mutant[] = []
for (const [i, mutant] of mutants.entries()) {
  await nextTurn()
  const tests = testsFor(mutant, coverage).slice(0, MAX_TEST_FILES)
  checkBaseline(tests)
  const isKilled = tests.length > 0 && !passesWith(mutant, tests)
  if (!isKilled) survivors.push(mutant)
  const outcome = isKilled ? 'killed' : tests.length ? 'SURVIVED' : 'SURVIVED, because no test calls it'
  console.log(`${i + 1} of ${mutants.length} ${outcome}: ${describe(mutant)}`)
}
console.log(`\n${mutants.length - survivors.length} of ${mutants.length} mutants killed, seed ${values.seed}, ${files.length} files`)
for (const mutant of survivors) console.log(`survived: ${describe(mutant)}`)

/** A test that fails without a mutant would count every mutant as killed. */
function checkBaseline(tests: string[]) {
  const unchecked = tests.filter((test) => !passing.has(test))
  if (unchecked.length && !passes(unchecked)) {
    console.error(`These tests fail or take too long without a mutant, so they cannot tell anything:\n${unchecked.join('\n')}`)
    process.exit(1)
  }
  for (const test of unchecked) passing.add(test)
}

function passesWith(mutant: Mutant, tests: string[]) {
  const text = readFileSync(mutant.file, 'utf8')
  writeFileSync(mutant.file, applyMutant(text, mutant))
  try {
    return passes(tests)
  } finally {
    writeFileSync(mutant.file, text)
  }
}

function passes(tests: string[]) {
  return vitest([...tests, '--bail', '1', '--maxWorkers', '1'], 'ignore').status === 0
}

/** The check of statements would notice every forgotten team, and hide that no test of the behavior does. */
function vitest(args: string[], stdio: 'inherit' | 'ignore') {
  const env = { ...process.env, [UNCHECKED_STATEMENTS]: '1' }
  return spawnSync('npx', ['vitest', 'run', ...args], { stdio, env, timeout: TIMEOUT_MS * (stdio === 'inherit' ? 20 : 1) })
}

function describe({ file, line, name, before, after }: Mutant) {
  return `${file}:${line} ${name}: ${before.trim()} → ${after.trim() || 'nothing'}`
}

function shuffled<T>(list: T[]) {
  const random = seededRandom(values.seed, 'mutants')
  return list
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
