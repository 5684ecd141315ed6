import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** How to run the tests that were skipped for a reason, by a part of the reason. */
const remedies: [part: string, remedy: string][] = [
  ['Chromium', 'apt-get install chromium'],
  ['rabbitmq-server', 'apt-get install rabbitmq-server'],
  ['emulator', 'gcloud components install pubsub-emulator, and apt-get install default-jre-headless'],
  ['helm', 'install helm 3 or 4 from helm.sh'],
  ['PgBouncer', 'apt-get install pgbouncer (1.21 or newer for transaction mode)'],
  ['Citus', 'TEST_DATABASE_URL=postgres://… npm test, with the coordinator of a Citus cluster'],
  ['no PostgreSQL installed', 'apt-get install postgresql'],
  ['old Node', 'put a Node older than 24 on the PATH'],
  ['script(1)', 'apt-get install bsdutils'],
  ['flock', 'apt-get install util-linux'],
  ['repository', 'run the tests in a clone of the repository'],
  ['requires root', 'sudo npm test'],
  ['account nobody', 'run the tests in a folder that every account can read'],
]

/** A reason that names a missing tool. Other reasons describe the database of the run. */
const remedyFor = (reason: string) => {
  const known = remedies.find(([part]) => reason.includes(part))
  if (known) return known[1]
  const [, tool] = /^(\S+) is (?:not installed|missing|not on the path)/.exec(reason) ?? []
  return tool && `install ${tool}`
}

/** The reason is in the note of the test, or in its title or the title of its group. A test without one was not selected. */
function reasonOf(test: TestCase) {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  return note ?? /\(skipped: (.+?)\)/.exec(test.fullName)?.[1]
}

function skippedByReason(modules: readonly TestModule[]) {
  const skipped = new Map<string, { count: number; files: Set<string> }>()
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const reason = reasonOf(test)
      if (!reason) continue
      const found = skipped.get(reason) ?? { count: 0, files: new Set() }
      found.count++
      skipped.set(reason, { ...found, files: found.files.add(module.relativeModuleId) })
    }
  return skipped
}

/** Names each group of skipped tests at the end, with what would run it. With REQUIRE_TOOLS=1, a missing tool fails the run. */
export function skipReporter(): Reporter {
  return {
    onTestRunEnd(modules) {
      const skipped = [...skippedByReason(modules)]
      if (!skipped.length) return
      console.log('\nSkipped tests')
      for (const [reason, { count, files }] of skipped)
        console.log(`  ${count} in ${[...files].join(', ')}: ${reason}${remedyFor(reason) ? `. To run them: ${remedyFor(reason)}` : ''}`)
      const missing = skipped.filter(([reason]) => remedyFor(reason))
      if (process.env['REQUIRE_TOOLS'] !== '1' || !missing.length) return
      console.error('REQUIRE_TOOLS=1, so missing tools fail the run.')
      process.exitCode = 1
    },
  }
}
