import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../platform/db/open.ts'
import { createLog } from '../../platform/log.ts'
import { type Review, reviewChains } from './review/slices.ts'
import type { AuditKeys } from './rules.ts'
import { type VerifyOptions, verifyChains } from './verify.ts'

export type AuditTask = { url: string; keys: AuditKeys } & ({ options: VerifyOptions } | { review: Review })

const task = workerData as AuditTask

const { db, close } = openDatabase(task.url, 1, createLog({ LOG_LEVEL: 'silent' }))
try {
  const isReview = 'review' in task
  parentPort?.postMessage(isReview ? await reviewChains(db, task.keys, task.review) : await verifyChains(db, task.keys, task.options))
} finally {
  await close()
}
