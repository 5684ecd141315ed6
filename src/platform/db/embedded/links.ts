import * as fs from 'node:fs'
import { basename, join } from 'node:path'

type Link = { source: string; target: string }

/** npm archives carry no links, and npm may not run the package's install script. Returns false if the links cannot be created. */
export function restoreLinks(packageDir: string) {
  try {
    for (const link of linksOf(packageDir)) restore(packageDir, link)
    return true
  } catch {
    return false
  }
}

function linksOf(packageDir: string): Link[] {
  const list = join(packageDir, 'native/pg-symlinks.json')
  return fs.existsSync(list) ? JSON.parse(fs.readFileSync(list, 'utf8')) : []
}

/** Two starts may create the same link at once; the second finds it. */
function restore(packageDir: string, { source, target }: Link) {
  const path = join(packageDir, target)
  if (fs.existsSync(path)) return
  try {
    fs.symlinkSync(basename(source), path)
  } catch (error) {
    if (!fs.existsSync(path)) throw error
  }
}
