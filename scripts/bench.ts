import { parseArgs } from 'node:util'
import { benchIngest } from '../bench/ingest.ts'
import { benchOrders } from '../bench/orders.ts'
import { benchReads } from '../bench/reads.ts'
import { benchWebhooks } from '../bench/webhooks.ts'

const usage = `npm run bench -- orders [--seconds N] [--rounds N] [--connections N] [--most N] [--small]
Orders per second over HTTP beside pgbench on the same PostgreSQL, and how long a page of orders takes in a small and a large table.
--most is how many orders the large table has; --small is a quick look at everything.

npm run bench -- webhooks [--seconds N] [--rounds N] [--most N] [--small]
Deliveries per second out of what waits, commit to receipt under a steady load, and what a dead webhook does to the others.
--most is how many messages wait in the long backlog.

npm run bench -- ingest [--connections N] [--most N] [--small]
Samples per second over HTTP, by user-days and by hours; bytes for a stored sample; reading a user-day; erasing a year; and a plain COPY.
--most is how many users there are.

npm run bench -- reads [--most N] [--small]
Reads of wearable data with a few users and with many, who are made by assay seed wearables: a month of 300 samples a day.
--most is how many users there are in the end.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    most: { type: 'string' },
    small: { type: 'boolean', default: false },
  },
})
const { seconds, rounds, connections, most, small } = values
const options = {
  seconds: Number(seconds ?? (small ? 2 : 8)),
  rounds: Number(rounds ?? (small ? 2 : 6)),
  connections: Number(connections),
  most: Number(most ?? (small ? 50_000 : 1_000_000)),
}
const subject = positionals.join()
if (
  !['orders', 'webhooks', 'ingest', 'reads'].includes(subject) ||
  !Object.values(options).every((value) => Number.isInteger(value) && value > 0)
) {
  console.error(`Usage: ${usage}`)
  process.exit(2)
}
if (subject === 'orders') await benchOrders(options)
else if (subject === 'ingest')
  await benchIngest({
    users: Number(most ?? (small ? 12 : 60)),
    perDay: 5760,
    connections: Math.min(options.connections, 4),
    reads: small ? 50 : 300,
    yearly: small ? 96 : 288,
  })
else if (subject === 'reads') await benchReads({ users: Number(most ?? (small ? 200 : 10_000)), days: 30, samples: 300, times: 200 })
else
  await benchWebhooks({
    seconds: options.seconds,
    backlog: options.most,
    rounds: Number(rounds ?? 3),
    perKey: small ? 4 : 16,
    endpoints: small ? 100 : 1000,
  })
