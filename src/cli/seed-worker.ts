import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import { openService } from '../operations/deployment/open.ts'
import { appOf } from '../platform/app.ts'
import { readConfig } from '../platform/config.ts'
import { type Share, seedShare } from './seed-share.ts'

/** The input of a thread: its share, and the database of the command. */
export type Work = Share & { url: string }

const { url, ...share } = workerData as Work
await using resources = new AsyncDisposableStack()
const rejectEmbedded = () => Promise.reject(new Error('A thread uses the database of its command'))
const { service } = await openService({ ...readConfig(), DATABASE_URL: url }, pino({ level: 'silent' }), rejectEmbedded, resources)
await seedShare(appOf(service), share, (isCreated) => parentPort?.postMessage(isCreated))
