import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../support/process.ts'
import { temporaryFolder } from '../../support/world.ts'

export const migrationsFolder = join(root, 'migrations')

/** The migrations of a later version: ours and these. */
export function laterVersion(files: Record<string, string>) {
  const folder = temporaryFolder()
  cpSync(migrationsFolder, folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
