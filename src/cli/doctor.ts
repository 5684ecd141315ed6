import { pino } from 'pino'
import { openServer } from '../operations/deployment/open.ts'
import * as data from '../operations/doctor/database.ts'
import type { Check, RunCheck } from '../operations/doctor/finding.ts'
import * as machine from '../operations/doctor/machine.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { borrowEmbedded, hasCluster } from '../platform/db/embedded/start.ts'
import type { Database } from '../platform/db/open.ts'
import { command, print } from './command.ts'
import { reasonOf } from './failure.ts'

export const doctorCommand = command({
  name: 'doctor',
  summary:
    'Check a deployment and print how to fix problems. The checks cover Node, settings, files, disk, port, database, schema, encryption key, clock, connections, pooler, hosts, standby, direct database, read replica, event logs, shards of a Citus cluster, webhooks, owner of the audit log and audit chain. The command changes nothing and exits with 1 if it finds an error.',
  options: { quick: { what: 'Skip the slow checks: audit chain and webhook addresses.' } },
  examples: ['assay doctor', 'assay doctor --json'],
  async run({ quick, json }) {
    const checks = await runChecks(quick)
    const errors = checks.filter(({ finding }) => finding.state === 'wrong').length
    const warnings = checks.filter(({ finding }) => finding.state === 'warning').length
    print(json, { healthy: errors === 0, checks: checks.map(({ name, finding }) => ({ name, ...finding })) }, [
      ...checks.flatMap(lineOf),
      '',
      errors || warnings ? `${count(errors, 'error')}, ${count(warnings, 'warning')}` : 'all checks passed',
    ])
    if (errors) process.exitCode = 1
  },
})

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

const labels = { ok: 'ok     ', warning: 'warning', wrong: 'ERROR  ', skipped: 'skipped' }

const lineOf = ({ name, finding: { state, text, remedy } }: Check) => [
  `${labels[state]}  ${name.padEnd(16)}  ${text}`,
  ...(remedy ? [`${' '.repeat(27)}→ ${remedy}`] : []),
]

async function runChecks(quick: boolean): Promise<Check[]> {
  const node = await runCheck('Node', () => machine.nodeFinding(process.versions.node))
  const configOrCheck = readSettings()
  if ('finding' in configOrCheck) return [node, configOrCheck]
  const config = configOrCheck
  return [
    node,
    { name: 'settings', finding: { state: 'ok', text: `${config.ENVIRONMENT} ${config.REGION}, ROLE ${config.ROLE}` } },
    await runCheck('public address', () => machine.publicUrlFinding(config)),
    await runCheck('DATA_DIR', () => machine.dataDirFinding(config.DATA_DIR)),
    await runCheck('disk', () => machine.diskFinding(config.DATA_DIR)),
    await runCheck('port', () => machine.portFinding(config)),
    ...(await checkDatabase(config, quick)),
  ]
}

function readSettings(): Config | Check {
  try {
    return readConfig()
  } catch (error) {
    return { name: 'settings', finding: { state: 'wrong', text: reasonOf(error).message, remedy: 'see docs/config.md' } }
  }
}

/** The remaining checks need the database. */
async function checkDatabase(config: Config, quick: boolean): Promise<Check[]> {
  if (!config.DATABASE_URL && !hasCluster(config.DATA_DIR)) {
    const remedy = 'start the service once, or set DATA_DIR to the folder that has the database'
    return [{ name: 'database', finding: { state: 'wrong', text: 'DATA_DIR has no database', remedy } }]
  }
  await using resources = new AsyncDisposableStack()
  let database: Database
  try {
    database = await openServer(config, pino({ level: 'silent' }), borrowEmbedded, resources)
  } catch (error) {
    const remedy = config.DATABASE_URL ? 'check DATABASE_URL and that the database is running' : 'see postgres.log in DATA_DIR'
    return [{ name: 'database', finding: { state: 'wrong', text: reasonOf(error).message, remedy } }]
  }
  return await data.databaseChecks(config, database, quick, runCheck)
}

/** A check that throws is a finding too. */
const runCheck: RunCheck = async (name, check) => {
  try {
    return { name, finding: await check() }
  } catch (error) {
    return { name, finding: { state: 'wrong', text: reasonOf(error).message } }
  }
}
