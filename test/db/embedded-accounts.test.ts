import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { copyBinaries } from '../../src/platform/db/embedded/copy-out.ts'
import { copyPackage, installedPackage, makeCheckout, nobodyCanRun } from './support/checkout.ts'
import { isRoot, nobody, postmasterOf, skipUnless, spawnHolder, start, tempFolder } from './support/embedded.ts'
import { query } from './support/query.ts'

const needsRoot = (context: TestContext) => skipUnless(context, isRoot, 'it takes root to try what root does')

test('as root, project and data may lie in folders that only root enters', async (context) => {
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

test('an ordinary user runs it from an install that it cannot write and that lacks the library links', async (context) => {
  skipUnless(context, !isRoot || nobodyCanRun(), 'nobody cannot run this Node: the project lies in a closed folder')
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

test('root continues with the data of an ordinary user, as that user, and leaves it usable', async (context) => {
  needsRoot(context)
  skipUnless(context, nobodyCanRun(), 'nobody cannot run this Node: the project lies in a closed folder')
  const dataDir = join(tempFolder(), 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  fs.chownSync(dataDir, nobody.uid, nobody.gid)
  await (await start(dataDir)).stop()

  const holder = spawnHolder(dataDir, { account: nobody })
  expect(await holder.waitForMessage('ready')).toEqual(expect.any(String))
})

test('a cluster that root brought back from a backup becomes the server’s own again', async (context) => {
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

test('missing library links are made where the install can be written', async () => {
  const packageDir = join(tempFolder(), 'package')
  copyPackage(packageDir)

  const { postgres } = await findBinaries({ account: undefined, dataDir: tempFolder(), preferred: undefined, packageDir })

  expect(postgres).toBe(join(packageDir, 'native/bin/postgres'))
  expect(fs.existsSync(join(packageDir, 'native/lib/libpq.so.5'))).toBe(true)
})

test('a copy of the binaries is made once, and again when it is damaged', () => {
  const place = tempFolder()
  const copy = String(copyBinaries(installedPackage, place))
  const server = join(copy, 'native/bin/postgres')
  const madeAt = fs.statSync(server).ctimeMs
  expect(copyBinaries(installedPackage, place)).toBe(copy)
  expect(fs.statSync(server).ctimeMs).toBe(madeAt)

  fs.truncateSync(server, 1000)
  expect(copyBinaries(installedPackage, place)).toBe(copy)
  expect(fs.statSync(server).size).toBe(fs.statSync(join(installedPackage, 'native/bin/postgres')).size)
  expect(fs.readdirSync(place)).toHaveLength(1)
})

test('a copy that somebody else planted is not trusted', (context) => {
  skipUnless(context, isRoot, 'only root can give a folder away')
  const place = tempFolder()
  fs.chownSync(String(copyBinaries(installedPackage, place)), nobody.uid, nobody.gid)

  expect(copyBinaries(installedPackage, place)).toBeUndefined()
  expect(fs.readdirSync(place)).toHaveLength(1)
})

test('a copy that is only a link is not trusted', () => {
  const [place, elsewhere] = [tempFolder(), tempFolder()]
  const copy = String(copyBinaries(installedPackage, place))
  fs.renameSync(copy, join(elsewhere, 'copy'))
  fs.symlinkSync(join(elsewhere, 'copy'), copy)

  expect(copyBinaries(installedPackage, place)).toBeUndefined()
  expect(fs.readdirSync(place)).toHaveLength(1)
})

test('a folder that everybody may write to is no place for a copy', () => {
  const place = tempFolder()
  fs.chmodSync(place, 0o777)
  expect(copyBinaries(installedPackage, place)).toBeUndefined()
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
