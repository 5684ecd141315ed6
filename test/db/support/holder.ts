import { pino } from 'pino'
import { startEmbedded } from '../../../src/platform/db/embedded/start.ts'
import { query } from './query.ts'

// A minimal service: reports its database URL, and on SIGTERM queries it once more before stopping it.
const [dataDir = ''] = process.argv.slice(2)
const report = (word: string, value: unknown) => process.stdout.write(`${JSON.stringify({ word, value })}\n`)

try {
  const embedded = await startEmbedded({ dataDir, log: pino({ level: 'silent' }), settings: { fsync: 'off' } })
  process.on('SIGTERM', async () => {
    const [row] = await query(embedded.url, 'select 1 as one')
    report('after SIGTERM', row?.one)
    await embedded.stop()
    process.exit(0)
  })
  setInterval(() => {}, 60_000)
  report('ready', embedded.url)
} catch (error) {
  report('refused', (error as Error).message)
}
