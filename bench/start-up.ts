import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../test/support/process.ts'
import { median } from './numbers.ts'

/** Milliseconds until the default deployment is ready: with an empty folder, and again with its database. */
export async function measureStartUp(restarts: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const start = async () => {
    const service = await startProcess({ DATA_DIR: dataDir })
    await service.stop()
    return service.readyMs
  }
  try {
    const first = await start()
    const again: number[] = []
    for (let i = 0; i < restarts; i++) again.push(await start())
    return { first, again: median(again) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}
