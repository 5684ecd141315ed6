import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { copyBinaries } from '../../src/platform/db/embedded/binaries-copy.ts'
import { postmasterOf } from '../support/process.ts'
import { copyPackage, installedPackage, makeCheckout, nobodyCanRun } from './support/checkout.ts'
import { isRoot, nobody, skipUnless, spawnHolder, start, tempFolder } from './support/embedded.ts'
import { query } from './support/query.ts'

const needsRoot = (context: TestContext) => skipUnless(context, isRoot, 'requires root')

test('root can run it with project and data in folders only root can enter', async (context) => {
  needsRoot(context)
  const closed = closedFolder()
  const { folder } = makeCheckout(join(closed, 'checkout'))
  const holder = spawnHolder(join(closed, 'data'), { checkout: folder })
  const url = String(await holder.waitForMessage('ready'))

  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  const status = fs.readFileSync(`/proc/${postmasterOf(join(closed, 'data'))}/status`, 'utf8')
  expect(status).toMatch(/^Uid:\s+65534\s+65534\s+65534\s+65534$/m)
  expect(status).toMatch(/^CapEff:\s+0+$/m)
})

test('an unprivileged user runs it from a read-only install without library links', async (context) => {
  skipUnless(context, !isRoot || nobodyCanRun(), 'the account nobody cannot run Node in this folder')
  const base = tempFolder()
  const { folder, packageDir } = makeCheckout(join(base, 'checkout'))
  const dataDir = join(base, 'closed/data')
  fs.mkdirSync(join(base, 'closed'), { mode: 0o700 })
  if (isRoot) fs.chownSync(join(base, 'closed'), nobody.uid, nobody.gid)
  else makeReadOnly(join(packageDir, 'native/lib'))
  const holder = spawnHolder(dataDir, { checkout: folder, account: isRoot ? nobody : undefined })
  const url = String(await holder.waitForMessage('ready'))

  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(fs.globSync(join(dataDir, 'assay-postgres-*/native/bin/postgres'))).toHaveLength(1)
  expect(fs.existsSync(join(packageDir, 'native/lib/libpq.so.5'))).toBe(false)
})

test('root starts on the data of an unprivileged user and leaves it usable', async (context) => {
  needsRoot(context)
  skipUnless(context, nobodyCanRun(), 'the account nobody cannot run Node in this folder')
  const dataDir = join(tempFolder(), 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  fs.chownSync(dataDir, nobody.uid, nobody.gid)
  await (await start(dataDir)).stop()

  const holder = spawnHolder(dataDir, { account: nobody })
  expect(await holder.waitForMessage('ready')).toEqual(expect.any(String))
})

test('fixes the owner of a cluster that root restored from a backup', async (context) => {
  needsRoot(context)
  const dataDir = tempFolder()
  await (await start(dataDir)).stop()
  for (const name of fs.readdirSync(join(dataDir, 'postgres'), { recursive: true, encoding: 'utf8' }))
    fs.chownSync(join(dataDir, 'postgres', name), 0, 0)
  fs.chownSync(join(dataDir, 'postgres'), 0, 0)
  fs.chmodSync(join(dataDir, 'postgres'), 0o755)

  const { url } = await start(dataDir)
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('creates missing library links in a writable install', async () => {
  const packageDir = join(tempFolder(), 'package')
  copyPackage(packageDir)

  const { postgres } = await findBinaries({ account: undefined, dataDir: tempFolder(), preferred: undefined, packageDir })

  expect(postgres).toBe(join(packageDir, 'native/bin/postgres'))
  expect(fs.existsSync(join(packageDir, 'native/lib/libpq.so.5'))).toBe(true)
})

test('copies the binaries once, and again if the copy is damaged', () => {
  const target = tempFolder()
  const copy = String(copyBinaries(installedPackage, target))
  const server = join(copy, 'native/bin/postgres')
  const copiedAt = fs.statSync(server).ctimeMs
  expect(copyBinaries(installedPackage, target)).toBe(copy)
  expect(fs.statSync(server).ctimeMs).toBe(copiedAt)

  fs.truncateSync(server, 1000)
  expect(copyBinaries(installedPackage, target)).toBe(copy)
  expect(fs.statSync(server).size).toBe(fs.statSync(join(installedPackage, 'native/bin/postgres')).size)
  expect(fs.readdirSync(target)).toHaveLength(1)
})

test('does not trust a copy owned by another user', (context) => {
  skipUnless(context, isRoot, 'requires root')
  const target = tempFolder()
  fs.chownSync(String(copyBinaries(installedPackage, target)), nobody.uid, nobody.gid)

  expect(copyBinaries(installedPackage, target)).toBeUndefined()
  expect(fs.readdirSync(target)).toHaveLength(1)
})

test('does not trust a copy that is a link', () => {
  const [target, elsewhere] = [tempFolder(), tempFolder()]
  const copy = String(copyBinaries(installedPackage, target))
  fs.renameSync(copy, join(elsewhere, 'copy'))
  fs.symlinkSync(join(elsewhere, 'copy'), copy)

  expect(copyBinaries(installedPackage, target)).toBeUndefined()
  expect(fs.readdirSync(target)).toHaveLength(1)
})

test('does not copy into a world-writable folder', () => {
  const target = tempFolder()
  fs.chmodSync(target, 0o777)
  expect(copyBinaries(installedPackage, target)).toBeUndefined()
})

function makeReadOnly(folder: string) {
  fs.chmodSync(folder, 0o555)
  onTestFinished(() => fs.chmodSync(folder, 0o755))
}

function closedFolder() {
  const folder = join(tempFolder(), 'closed')
  fs.mkdirSync(folder, { mode: 0o700 })
  return folder
}
