import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

type Remedies = [part: string, remedy: string][]

/** What a skipped test misses, by a part of the reason, and how to get it. */
const tools: Remedies = [
  ['Chromium', 'apt-get install chromium'],
  ['rabbitmq-server', 'apt-get install rabbitmq-server'],
  ['emulator', 'gcloud components install pubsub-emulator, and apt-get install default-jre-headless'],
  ['helm', 'install helm 3 or 4 from helm.sh'],
  ['PgBouncer', 'apt-get install pgbouncer (1.21 or newer for transaction mode)'],
  ['no PostgreSQL installed', 'apt-get install postgresql'],
  ['old Node', 'put a Node older than 24 on the PATH'],
  ['script(1)', 'apt-get install bsdutils'],
  ['flock', 'apt-get install util-linux'],
]

/** Tests of another server, account or checkout. No installed tool runs them beside the others. */
const runs: Remedies = [
  ['Citus', 'TEST_DATABASE_URL=postgres://… npm test, with the coordinator of a Citus cluster'],
  ['requires root', 'sudo npm test'],
  ['account nobody', 'run the tests in a folder that every account can read'],
  ['repository', 'run the tests in a clone of the repository'],
  ['the history does not have', 'git fetch --unshallow'],
  ['full run', 'npm run test:full'],
]

const find = (list: Remedies, reason: string) => list.find(([part]) => reason.includes(part))?.[1]

/** The command that makes a missing tool available, and undefined if the reason is another one. */
export function toolFor(reason: string) {
  const [, tool] = /^(\S+) is (?:not installed|missing|not on the path)/.exec(reason) ?? []
  return find(runs, reason) ? undefined : (find(tools, reason) ?? (tool && `install ${tool}`))
}

type Skipped = Map<string, { count: number; places: Set<string> }>

function add(skipped: Skipped, reason: string, place: string) {
  const { count, places } = skipped.get(reason) ?? { count: 0, places: new Set() }
  skipped.set(reason, { count: count + 1, places: places.add(place) })
}

/** The reason is in the note of the test, or in its title or the title of its group. A test without one was not selected. */
function reasonOf(test: TestCase) {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  return note ?? /\(skipped: (.+?)\)/.exec(test.fullName)?.[1]
}

/** The type of an annotation for a part of a test that was skipped, such as `docs/orders.md:12: go is not installed`. */
export const SKIPPED_PART = 'skipped part'

function skippedByReason(modules: readonly TestModule[]) {
  const skipped: Skipped = new Map()
  for (const module of modules)
    for (const test of module.children.allTests()) {
      const reason = test.result().state === 'skipped' && reasonOf(test)
      if (reason) add(skipped, reason, module.relativeModuleId)
      for (const { type, message } of test.annotations()) {
        const [, place, missing] = /^(\S+): (.+)$/.exec(message) ?? []
        if (type === SKIPPED_PART && place && missing) add(skipped, missing, place)
      }
    }
  return [...skipped]
}

function lineFor([reason, { count, places }]: ReturnType<typeof skippedByReason>[number]) {
  const remedy = find(runs, reason) ?? toolFor(reason)
  return `  ${count} in ${[...places].join(', ')}: ${reason}${remedy ? `. To run them: ${remedy}` : ''}`
}

const runsEverything = async (vitest: Vitest | undefined, modules: readonly TestModule[]) =>
  modules.length === (await vitest?.globTestSpecifications())?.length

/**
 * Names each group of skipped tests at the end, with what would run it, and the files that this command leaves out.
 * With REQUIRE_TOOLS=1, a missing tool fails the run.
 */
export function skipReporter(leftOut: string[]): Reporter {
  let vitest: Vitest | undefined
  return {
    onInit(started) {
      vitest = started
    },
    async onTestRunEnd(modules) {
      const skipped = skippedByReason(modules)
      if (skipped.length) console.log(['\nSkipped tests', ...skipped.map(lineFor)].join('\n'))
      if (leftOut.length && (await runsEverything(vitest, modules))) console.log(`\nOnly npm run test:full runs ${leftOut.join(', ')}.`)
      if (process.env['REQUIRE_TOOLS'] !== '1' || !skipped.some(([reason]) => toolFor(reason))) return
      console.error('REQUIRE_TOOLS=1, so missing tools fail the run.')
      process.exitCode = 1
    },
  }
}
