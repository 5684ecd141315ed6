import { forgetIdleKeys } from '../platform/sealing/vault.ts'
import { MINUTE, SECOND } from '../platform/time.ts'
import { flushLastUses } from '../tenants/keys/last-use.ts'
import type { Job } from './job.ts'

/** Run in every process, because each flushes the memory of its own process. */
export const ownMemoryJobs: Job[] = [
  { name: 'flush key usage', everyMs: 5 * SECOND, run: flushLastUses },
  { name: 'forget idle keys', everyMs: 10 * MINUTE, run: forgetIdleKeys },
]
