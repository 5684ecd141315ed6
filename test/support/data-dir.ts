import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { eventually, startProcess } from './process.ts'
import { newDataDir } from './world.ts'

/** A DATA_DIR after its first start: migrated, with the catalog, an organization and keys. Each call returns its own copy. */
export async function preparedDataDir() {
  const folder = newDataDir()
  execFileSync('cp', ['-a', await original(), folder])
  return folder
}

/** The first caller of the run creates it, and the others wait. */
async function original() {
  const parent = join(inject('dataFolders'), 'prepared')
  const [partial, complete] = [join(parent, 'partial'), join(parent, 'complete')]
  if (isFirst(parent)) {
    const service = await startProcess({ DATA_DIR: partial })
    await service.stop()
    renameSync(partial, complete)
  }
  await eventually(() => existsSync(complete))
  return complete
}

function isFirst(folder: string) {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}
