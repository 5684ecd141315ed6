import { pino } from 'pino'
import * as data from '../operations/doctor/database.ts'
import type { Check, Examine } from '../operations/doctor/finding.ts'
import * as machine from '../operations/doctor/machine.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { borrowEmbedded, hasCluster } from '../platform/db/embedded/start.ts'
import type { Database } from '../platform/db/open.ts'
import { openServer } from '../start.ts'
import { command, print } from './command.ts'
import { reasonOf } from './failure.ts'

export const doctorCommand = command({
  name: 'doctor',
  summary:
    'Check a deployment and say what to fix: Node, settings, files, disk, port, database, schema, key, clock, connections, webhooks, audit chain. Changes nothing; exit code 1 when something is wrong.',
  options: { quick: { what: 'Leave out what takes long: the audit chain and the addresses of webhooks.' } },
  examples: ['assay doctor', 'assay doctor --json'],
  async run({ quick, json }) {
    const checks = await examined(quick)
    const wrong = checks.filter(({ finding }) => finding.state === 'wrong').length
    const warnings = checks.filter(({ finding }) => finding.state === 'warning').length
    print(json, { healthy: wrong === 0, checks: checks.map(({ name, finding }) => ({ name, ...finding })) }, [
      ...checks.flatMap(lineOf),
      '',
      wrong || warnings ? `${wrong} wrong, ${warnings} to look at` : 'all in order',
    ])
    if (wrong) process.exitCode = 1
  },
})

const signs = { ok: 'ok     ', warning: 'look at', wrong: 'WRONG  ', skipped: 'skipped' }

const lineOf = ({ name, finding: { state, text, remedy } }: Check) => [
  `${signs[state]}  ${name.padEnd(16)}  ${text}`,
  ...(remedy ? [`${' '.repeat(27)}→ ${remedy}`] : []),
]

async function examined(quick: boolean): Promise<Check[]> {
  const node = await check('Node', () => machine.nodeVersion(process.versions.node))
  const read = settings()
  if ('finding' in read) return [node, read]
  const config = read
  return [
    node,
    { name: 'settings', finding: { state: 'ok', text: `${config.ENVIRONMENT} ${config.REGION}, ROLE ${config.ROLE}` } },
    await check('public address', () => machine.publicAddress(config)),
    await check('DATA_DIR', () => machine.dataFolder(config.DATA_DIR)),
    await check('disk', () => machine.diskSpace(config.DATA_DIR)),
    await check('port', () => machine.port(config)),
    ...(await ofDatabase(config, quick)),
  ]
}

function settings(): Config | Check {
  try {
    return readConfig()
  } catch (error) {
    return { name: 'settings', finding: { state: 'wrong', text: reasonOf(error).message, remedy: 'docs/config.md lists the settings' } }
  }
}

/** Without a database the rest cannot be judged. */
async function ofDatabase(config: Config, quick: boolean): Promise<Check[]> {
  if (!config.DATABASE_URL && !hasCluster(config.DATA_DIR)) {
    const remedy = 'start the service once, or name the folder that has it in DATA_DIR'
    return [{ name: 'database', finding: { state: 'wrong', text: 'there is none in DATA_DIR', remedy } }]
  }
  await using opened = new AsyncDisposableStack()
  let database: Database
  try {
    database = await openServer(config, pino({ level: 'silent' }), borrowEmbedded, opened)
  } catch (error) {
    const remedy = config.DATABASE_URL ? 'check the address, the password and whether it is running' : 'postgres.log in DATA_DIR says why'
    return [{ name: 'database', finding: { state: 'wrong', text: reasonOf(error).message, remedy } }]
  }
  const { db, pool, close } = database
  return await data.checks(config, { db, pool, close }, quick, check)
}

/** A check that fails by itself is a finding too. */
const check: Examine = async (name, examine) => {
  try {
    return { name, finding: await examine() }
  } catch (error) {
    return { name, finding: { state: 'wrong', text: reasonOf(error).message } }
  }
}
