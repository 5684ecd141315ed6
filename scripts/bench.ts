import { parseArgs } from 'node:util'
import { benchOrders } from '../bench/orders.ts'
import { benchWebhooks } from '../bench/webhooks.ts'

const usage = `npm run bench -- orders [--seconds N] [--rounds N] [--connections N] [--most N] [--small]
Orders per second over HTTP beside pgbench on the same PostgreSQL, and how long a page of orders takes in a small and a large table.
--most is how many orders the large table has; --small is a quick look at everything.

npm run bench -- webhooks [--seconds N] [--rounds N] [--most N] [--small]
Deliveries per second out of what waits, commit to receipt under a steady load, and what a dead webhook does to the others.
--most is how many messages wait in the long backlog.`

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
if (!['orders', 'webhooks'].includes(subject) || !Object.values(options).every((value) => Number.isInteger(value) && value > 0)) {
  console.error(`Usage: ${usage}`)
  process.exit(2)
}
if (subject === 'orders') await benchOrders(options)
else
  await benchWebhooks({
    seconds: options.seconds,
    backlog: options.most,
    rounds: Number(rounds ?? 3),
    perKey: small ? 4 : 16,
    endpoints: small ? 100 : 1000,
  })
