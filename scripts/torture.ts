import { parseArgs } from 'node:util'
import { type Kind, summaryOf, tortureUsers } from '../test/torture/users.ts'

const usage = 'npm run torture -- users [--rounds N] [--outside]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' }, outside: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds)
if (positionals.join() !== 'users' || !Number.isInteger(rounds) || rounds < 1) {
  console.error(`Usage: ${usage}\nKills the process and PostgreSQL (embedded, or outside) N times each while users are created.`)
  process.exit(2)
}

const database = values.outside ? 'outside' : 'embedded'
const kinds: Kind[] = [
  { victim: 'process', database },
  { victim: 'PostgreSQL', database },
]
const results = []
for (const kind of kinds) results.push(await tortureUsers(kind, { rounds, say: console.log }))
for (const result of results) console.log(summaryOf(result))
for (const fault of results.flatMap((result) => result.faults)) console.error(fault)
if (results.some(({ lost, faults }) => lost || faults.length)) process.exitCode = 1
