import { parseArgs } from 'node:util'
import { orders } from '../test/torture/orders.ts'
import { type Kind, type Result, summaryOf, torture } from '../test/torture/rounds.ts'
import { users } from '../test/torture/users.ts'

const subjects = {
  users: (kind: Kind, rounds: number) => torture(users, kind, { rounds, say: console.log }),
  orders: (kind: Kind, rounds: number) => torture(orders, kind, { rounds, say: console.log }),
}
const usage = 'npm run torture -- users|orders [--rounds N] [--outside]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' }, outside: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds)
const kill = subjects[positionals.join() as keyof typeof subjects]
if (!kill || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    `Usage: ${usage}\nKills the process and PostgreSQL (embedded, or outside) N times each while users are created or orders placed.`,
  )
  process.exit(2)
}

const database = values.outside ? 'outside' : 'embedded'
const kinds: Kind[] = [
  { victim: 'process', database },
  { victim: 'PostgreSQL', database },
]
const results: Result[] = []
for (const kind of kinds) results.push(await kill(kind, rounds))
for (const result of results) console.log(summaryOf(result))
for (const fault of results.flatMap((result) => result.faults)) console.error(fault)
if (results.some(({ lost, faults }) => lost || faults.length)) process.exitCode = 1
