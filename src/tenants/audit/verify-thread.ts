import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../platform/db/open.ts'
import { createLog } from '../../platform/log.ts'
import type { AuditKeys } from './rules.ts'
import { type VerifyOptions, verifyChains } from './verify.ts'

export type VerifyTask = { url: string; keys: AuditKeys; options: VerifyOptions }

const { url, keys, options } = workerData as VerifyTask

const database = openDatabase(url, 1, createLog({ LOG_LEVEL: 'silent' }))
try {
  parentPort?.postMessage(await verifyChains(database.db, keys, options))
} finally {
  await database.close()
}
