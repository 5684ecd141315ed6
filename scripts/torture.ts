import { parseArgs } from 'node:util'
import { SEED } from '../test/support/seeded.ts'
import { tortureBookings } from '../test/torture/bookings.ts'
import { summaryOfClouds, tortureClouds } from '../test/torture/clouds.ts'
import { endings, type Mode, type Plan, summaryOfFailovers, tortureFailover } from '../test/torture/failover.ts'
import { openSite as openFailoverSite } from '../test/torture/failover-site.ts'
import { faultsUnderBombs, slowdownOf, summaryOfHostile, tortureHostile } from '../test/torture/hostile.ts'
import { attackNames } from '../test/torture/hostile-attackers.ts'
import { summaryOfLabs, tortureLabs, transports } from '../test/torture/labs.ts'
import { orders } from '../test/torture/orders.ts'
import { summaryOfPipelines, torturePipelines } from '../test/torture/pipelines.ts'
import { type Kind, type Result, summaryOf, torture } from '../test/torture/rounds.ts'
import { users } from '../test/torture/users.ts'
import { openSite } from '../test/torture/webhook-site.ts'
import { summaryOfWebhooks, tortureWebhooks } from '../test/torture/webhooks.ts'

const subjects = {
  users: (kind: Kind, rounds: number) => torture(users, kind, { rounds, print: console.log }),
  orders: (kind: Kind, rounds: number) => torture(orders, kind, { rounds, print: console.log }),
}
const usage =
  'npm run torture -- users|orders [--rounds N] [--external], webhooks|pipelines|failover|bookings [--rounds N], labs [--rounds N] [--transport mllp|sftp], clouds [--users N] [--rounds N], or hostile [--seconds N] [--only ATTACK,…]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    users: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '600' },
    external: { type: 'boolean', default: false },
    transport: { type: 'string', default: 'mllp' },
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const accounts = Number(values.users)
const transport = transports.find((one) => one === values.transport)
const only = values.only?.split(',').map((name) => attackNames.find((one) => one === name))
const subject = positionals.join()
const rounds = Number(values.rounds ?? (subject === 'clouds' ? 5 : 20))
const kill = subjects[subject as keyof typeof subjects]
if (
  (!kill && !['webhooks', 'pipelines', 'failover', 'bookings', 'labs', 'clouds', 'hostile'].includes(subject)) ||
  ![rounds, seconds, accounts].every((value) => Number.isInteger(value) && value > 0) ||
  !transport ||
  only?.includes(undefined)
) {
  console.error(
    `Usage: ${usage}\nRuns N rounds. Each round kills one process under load and checks that no acknowledged write or event is lost.
users, orders: kills the service, then PostgreSQL, while users are created or orders are placed. --external uses a separate PostgreSQL.
webhooks: kills a worker, an API process or PostgreSQL during delivery.
pipelines: kills RabbitMQ, the publishing process or PostgreSQL during publishing.
failover: kills, hangs or stops a primary with a synchronous standby, which takes over; then some rounds with an asynchronous one.
bookings: books the last slot twice at the same time; one request gets a visit, and the other is refused.
labs: kills or restarts a worker or a lab that speaks HL7, or kills PostgreSQL, while orders go out, some are canceled, and results come in. A round is 500 orders. Over SFTP, orders and results are files.
clouds: changes data of N users at five wearable clouds in a storm of notifications, while clouds fail and processes are killed.
hostile: sends fuzzed, oversized, compressed, slow and half-open requests for N seconds, beside a team that behaves well. --only selects attacks: ${attackNames.join(', ')}. bombs runs only if it is selected; alone, it checks that /health stays below 250 ms and memory below 1,000 MB.`,
  )
  process.exit(2)
}

console.log(`TEST_SEED=${SEED}`)
if (subject === 'pipelines') {
  const published = await torturePipelines({ rounds, print: console.log })
  console.log(summaryOfPipelines(published))
  process.exit(published.some(({ lost, misplaced }) => lost || misplaced) ? 1 : 0)
}

if (subject === 'bookings') {
  const faults = await tortureBookings({ rounds, print: console.log })
  for (const fault of faults) console.error(fault)
  console.log(`${rounds} rounds: ${rounds - faults.length} with one visit and one refusal`)
  process.exit(faults.length ? 1 : 0)
}
if (subject === 'labs') {
  const exchanged = await tortureLabs({ rounds, transport, ordersPerRound: 500, print: console.log })
  console.log(summaryOfLabs(exchanged))
  for (const fault of exchanged.faults) console.error(fault)
  process.exit(exchanged.faults.length ? 1 : 0)
}

if (subject === 'clouds') {
  const outcome = await tortureClouds({ users: accounts, rounds, print: console.log })
  console.log(summaryOfClouds(outcome))
  for (const fault of outcome.faults.slice(0, 50)) console.error(fault)
  process.exit(outcome.faults.length ? 1 : 0)
}

if (subject === 'hostile') {
  const hostile = await tortureHostile({ seconds, only: only?.filter((name) => name !== undefined), print: console.log })
  console.log(summaryOfHostile(hostile))
  const limits = values.only === 'bombs' ? faultsUnderBombs(hostile) : []
  for (const fault of [...hostile.faults, ...limits]) console.error(fault)
  process.exit(hostile.lost || hostile.faults.length || limits.length || slowdownOf(hostile.rounds).ratio > 3 ? 1 : 0)
}

if (subject === 'failover') {
  const planOf =
    (mode: Mode) =>
    (_: unknown, i: number): Plan => ({ mode, ending: endings[i % endings.length] as Plan['ending'] })
  const plans = [
    ...Array.from({ length: rounds }, planOf('synchronous')),
    ...Array.from({ length: Math.ceil(rounds / 4) }, planOf('asynchronous')),
  ]
  const site = await openFailoverSite()
  const results = await tortureFailover(site, { rounds: plans, print: console.log }).finally(site.close)
  console.log(summaryOfFailovers(results))
  const isBad = ({ mode, lost, announced, undelivered, misplaced, faults }: (typeof results)[number]) =>
    undelivered || misplaced || faults.length || (mode === 'synchronous' && (lost || announced))
  process.exit(results.some(isBad) ? 1 : 0)
}

if (!kill) {
  const site = await openSite()
  const delivered = await tortureWebhooks(site, { rounds, print: console.log }).finally(site.close)
  console.log(summaryOfWebhooks(delivered))
  process.exit(delivered.some(({ lost, misplaced, faults }) => lost || misplaced || faults.length) ? 1 : 0)
}

const database = values.external ? 'external' : 'embedded'
const kinds: Kind[] = [
  { victims: ['process'], database },
  { victims: ['PostgreSQL'], database },
]
const results: Result[] = []
for (const kind of kinds) results.push(await kill(kind, rounds))
for (const result of results) console.log(summaryOf(result))
for (const fault of results.flatMap((result) => result.faults)) console.error(fault)
if (results.some(({ lost, faults }) => lost || faults.length)) process.exitCode = 1
