import { parentPort } from 'node:worker_threads'
import { openDatabase } from '../../../platform/db/open.ts'
import { createLog } from '../../../platform/log.ts'
import { type Review, reviewChains } from '../review/slices.ts'
import type { AuditKeys } from '../rules.ts'
import { type VerifyOptions, verifyChains } from '../verify.ts'

export type AuditTask = { url: string; keys: AuditKeys } & ({ options: VerifyOptions } | { review: Review })

const log = createLog({ LOG_LEVEL: 'silent' })

parentPort?.on('message', async (task: AuditTask) => {
  parentPort?.postMessage(await run(task))
})

async function run(task: AuditTask) {
  const { db, close } = openDatabase(task.url, 1, log)
  try {
    return 'review' in task ? await reviewChains(db, task.keys, task.review) : await verifyChains(db, task.keys, task.options)
  } finally {
    await close()
  }
}
