import type { KeyObject } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../platform/db/open.ts'
import { createLog } from '../../platform/log.ts'
import { type VerifyOptions, verifyChains } from './verify.ts'

export type VerifyTask = { url: string; key: KeyObject; options: VerifyOptions }

const { url, key, options } = workerData as VerifyTask

const database = openDatabase(url, 1, createLog({ LOG_LEVEL: 'silent' }))
try {
  parentPort?.postMessage(await verifyChains(database.db, key, options))
} finally {
  await database.close()
}
