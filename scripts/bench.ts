import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { benchBytes } from '../bench/bytes.ts'
import { benchCalm } from '../bench/calm.ts'
import { benchCompendium } from '../bench/compendium.ts'
import { benchCosts } from '../bench/costs.ts'
import { benchFair } from '../bench/fair.ts'
import { benchIngest } from '../bench/ingest.ts'
import { benchOrders } from '../bench/orders.ts'
import { benchProcesses } from '../bench/processes.ts'
import { benchReads } from '../bench/reads.ts'
import { benchReport } from '../bench/report.ts'
import { benchStatements } from '../bench/statements.ts'
import { benchWebhooks } from '../bench/webhooks.ts'

const usage = `npm run bench [-- report [--baseline FOLDER] [--small]]
Runs most of the measurements below with fixed sizes and writes bench/report.md, with ratios to what ran beside them. It takes about
half an hour, and a few minutes with --small.
--baseline FOLDER, here and below, compares with another version, in turn. The folder is a checkout with its own node_modules.

npm run bench -- orders [--seconds N] [--rounds N] [--connections N] [--most N] [--baseline FOLDER] [--small]
Measures orders per second over HTTP, compared with pgbench on the same PostgreSQL, users per second, and list requests in a small and
a large table. --most sets the number of orders in the large table. --small runs a short version of any benchmark.

npm run bench -- webhooks [--seconds N] [--rounds N] [--most N] [--small]
Measures deliveries per second from a backlog, latency under a steady load, and the effect of a dead webhook on the others.
--most sets the number of messages in the long backlog.

npm run bench -- calm [--seconds N] [--rounds N] [--most N] [--baseline FOLDER] [--small]
Measures the default deployment at 200 events per second, in a burst, idle, and with a single event on an idle service.
--most sets the number of events in the burst.

npm run bench -- ingest [--connections N] [--most N] [--small]
Measures samples per second over HTTP in batches of a day and of an hour, bytes per stored sample, reads, and erasing a user.
--most sets the number of users.

npm run bench -- reads [--most N] [--small]
Measures reads of wearable data with few and with many users. assay seed wearables creates them with 30 days of 300 samples.
--most sets the number of users in the larger run.

npm run bench -- bytes [--most N] [--small]
Measures how much the whole database grows per sample, for pushes of a user-day and for pushes of 5 samples, and which tables grow.
--most sets the number of users.

npm run bench -- processes [--seconds N] [--rounds N] [--connections N] [--soak N] [--small]
Prints the memory of the service, idle and loaded, and compares one API process with two, each pinned to a core with taskset.
--soak adds a mixed load of N seconds and prints the memory along the way.

npm run bench -- fair [--seconds N] [--rounds N] [--baseline FOLDER] [--small]
Measures the reads of one team alone, and beside another team with 100 parallel writes or with 30 huge reads.
--baseline measures the other version instead.

npm run bench -- compendium [--most N] [--small]
Measures searches of tests by name, code, LOINC, prefix, word and with a typing error, in a catalog of 10,000 more markers.
--most sets their number.

npm run bench -- statements [--rounds N] [--only NAME] [--small]
Measures hot writes inside PostgreSQL, in batches of 1, 8 and 64: time, commits, rows and write-ahead log, compared with plain
inserts of the same rows. --only measures the writes whose name contains a text.

npm run bench -- costs [--most N] [--database URL] [--small]
Measures what an order, event, delivery, read, push and sample use: CPU time, disk, write-ahead log and network. It prints the table
of src/operations/capacity/rules-costs.ts, which assay capacity uses. --most sets the number of orders in each run.
--database uses a PostgreSQL server on this machine, as a superuser, or the coordinator of a Citus cluster on this machine.

--pooler N puts PgBouncer with N connections in front of PostgreSQL, in any other benchmark. PGBOUNCER can name its file.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    most: { type: 'string' },
    baseline: { type: 'string' },
    pooler: { type: 'string' },
    database: { type: 'string' },
    only: { type: 'string' },
    soak: { type: 'string', default: '0' },
    small: { type: 'boolean', default: false },
  },
})
const { seconds, rounds, connections, most, small } = values
const pooler = values.pooler === undefined ? undefined : Number(values.pooler)
const baseline = values.baseline && resolve(values.baseline)
const options = {
  seconds: Number(seconds ?? (small ? 2 : 8)),
  rounds: Number(rounds ?? (small ? 2 : 6)),
  connections: Number(connections),
  most: Number(most ?? (small ? 50_000 : 1_000_000)),
}
const benchmark = positionals.join() || 'report'
if (
  !['report', 'orders', 'webhooks', 'calm', 'ingest', 'reads', 'bytes', 'compendium', 'processes', 'costs', 'fair', 'statements'].includes(
    benchmark,
  ) ||
  ![...Object.values(options), pooler ?? 1].every((value) => Number.isInteger(value) && value > 0)
) {
  console.error(usage)
  process.exit(benchmark === 'help' ? 0 : 2)
}
if (benchmark === 'report') await benchReport({ small, baseline })
else if (benchmark === 'orders') await benchOrders({ ...options, pooler, baseline })
else if (benchmark === 'calm')
  await benchCalm({
    seconds: options.seconds,
    rounds: Number(rounds ?? (small ? 2 : 3)),
    burst: Number(most ?? (small ? 2000 : 20_000)),
    idleSeconds: small ? 5 : 30,
    singles: small ? 3 : 10,
    baseline,
  })
else if (benchmark === 'processes') await benchProcesses({ ...options, soakSeconds: Number(values.soak) })
else if (benchmark === 'fair') await benchFair({ seconds: options.seconds, rounds: Number(rounds ?? (small ? 1 : 3)), baseline })
else if (benchmark === 'statements')
  await benchStatements({
    rounds: Number(rounds ?? (small ? 1 : 3)),
    milliseconds: small ? 100 : 200,
    batches: [1, 8, 64],
    only: values.only,
  })
else if (benchmark === 'costs')
  await benchCosts({
    orders: Number(most ?? (small ? 200 : 3000)),
    users: small ? 8 : 40,
    connections: options.connections,
    firstDay: 2,
    database: values.database,
  })
else if (benchmark === 'compendium') await benchCompendium({ markers: Number(most ?? 10_000), times: small ? 50 : 300 })
else if (benchmark === 'ingest')
  await benchIngest({
    users: Number(most ?? (small ? 12 : 60)),
    perDay: 5760,
    connections: Math.min(options.connections, 4),
    reads: small ? 50 : 300,
    yearly: small ? 96 : 288,
    pooler,
  })
else if (benchmark === 'bytes')
  await benchBytes({ users: Number(most ?? (small ? 20 : 60)), connections: Math.min(options.connections, 4), pooler })
else if (benchmark === 'reads')
  await benchReads({ users: Number(most ?? (small ? 200 : 10_000)), days: 30, samples: 300, times: 200, pooler })
else
  await benchWebhooks({
    seconds: options.seconds,
    backlog: options.most,
    rounds: Number(rounds ?? 3),
    perKey: small ? 4 : 16,
    endpoints: small ? 100 : 1000,
    pooler,
  })
