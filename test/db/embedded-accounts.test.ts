import * as fs from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { type Account, chooseAccount, commandForOwnAccount, type SystemAccount } from '../../src/platform/db/embedded/account.ts'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { copyBinaries } from '../../src/platform/db/embedded/binaries-copy.ts'
import { postmasterOf } from '../support/process.ts'
import { copyPackage, installedPackage, makeCheckout, nobodyCanRun } from './support/checkout.ts'
import { isRoot, nobody, skipUnless, spawnHolder, start, tempFolder } from './support/embedded.ts'
import { query } from './support/query.ts'

const needsRoot = (context: TestContext) => skipUnless(context, isRoot, 'requires root')

const passwd = fs.readFileSync('/etc/passwd', 'utf8')
const dedicated = ['assay', 'postgres'].find((name) => passwd.includes(`\n${name}:`))
/** An account of the system that is made for something else. */
const games = Number(/^games:[^:]*:(\d+):/m.exec(passwd)?.[1] ?? 1)

const HARBOR = { name: 'harbor', uid: 4321, gid: 4300 }
const POSTGRES = { name: 'postgres', uid: 101, gid: 104 }
const ASSAY = { name: 'assay', uid: 990, gid: 991 }

/** A data folder with an empty cluster folder, each with an owner and the group of root. */
function aDataFolder({ owner = 0, clusterOwner = 0 }) {
  const dataDir = tempFolder()
  fs.mkdirSync(join(dataDir, 'postgres'))
  fs.chownSync(join(dataDir, 'postgres'), clusterOwner, 0)
  fs.chownSync(dataDir, owner, 0)
  return join(dataDir, 'postgres')
}

test.for([
  ['the owner of the data folder', { owner: 4321 }, [HARBOR, POSTGRES, ASSAY], { uid: 4321, gid: 4300 }],
  ['the account assay if the owner of the data folder has no name', { owner: 4321 }, [ASSAY], { uid: 990, gid: 991 }],
  ['the account assay', {}, [POSTGRES, ASSAY], { uid: 990, gid: 991 }],
  ['the account postgres', {}, [HARBOR, POSTGRES], { uid: 101, gid: 104 }],
  ['nobody without such an account', {}, [HARBOR], nobody],
  ['nobody if another name of root is assay', {}, [{ name: 'assay', uid: 0, gid: 0 }], nobody],
  ['the owner of an existing cluster', { owner: 4321, clusterOwner: 990 }, [HARBOR, POSTGRES, ASSAY], { uid: 990, gid: nobody.gid }],
  ['nobody for an existing cluster of nobody', { owner: 4321, clusterOwner: nobody.uid }, [HARBOR, ASSAY], nobody],
] as const)('root runs it as %s', ([, owners, accounts, expected], context) => {
  needsRoot(context)
  expect(chooseAccount(aDataFolder(owners), [...accounts])).toEqual(expected)
})

test('the command for a dedicated account creates one only if none exists', (context) => {
  needsRoot(context)
  const commandFor = (account: Account, ...accounts: SystemAccount[]) => commandForOwnAccount(account, '/srv/tide/postgres', accounts)
  expect(commandFor(nobody, HARBOR)).toBe(
    "useradd --system --user-group --shell /usr/sbin/nologin assay && chown -R assay: '/srv/tide/postgres'",
  )
  expect(commandFor(nobody, POSTGRES)).toBe("chown -R postgres: '/srv/tide/postgres'")
  expect(commandFor({ uid: 101, gid: 104 }, POSTGRES)).toBeUndefined()
  expect(commandFor(undefined, HARBOR)).toBeUndefined()
})

/** Starts it in a folder that only root can enter, and returns the account of its process. */
async function accountOf(dataDir: string, checkout: string) {
  const holder = spawnHolder(dataDir, { checkout })
  const url = String(await holder.waitForMessage('ready'))
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  const status = fs.readFileSync(`/proc/${postmasterOf(dataDir)}/status`, 'utf8')
  expect(status).toMatch(/^CapEff:\s+0+$/m)
  return status
    .match(/^Uid:.*$/m)?.[0]
    .split('\t')
    .slice(1)
}

test('root can run it with project and data in folders only root can enter', async (context) => {
  needsRoot(context)
  const closed = closedFolder()
  const { folder } = makeCheckout(join(closed, 'checkout'))
  const dataDir = join(closed, 'data')

  const uids = await accountOf(dataDir, folder)

  const { uid } = fs.statSync(join(dataDir, 'postgres'))
  expect(uid).toBe(chooseAccount(join(closed, 'elsewhere'))?.uid)
  expect(uids).toEqual(Array(4).fill(String(uid)))
})

test('root runs it as the owner of a private data folder in a folder only root can enter', async (context) => {
  needsRoot(context)
  const closed = closedFolder()
  const { folder } = makeCheckout(join(closed, 'checkout'))
  const dataDir = join(closed, 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  fs.chownSync(dataDir, games, 0)

  expect(await accountOf(dataDir, folder)).toEqual(Array(4).fill(String(games)))
  expect(fs.statSync(join(dataDir, 'postgres.json')).uid).toBe(games)
})

test('root is warned of a cluster that belongs to nobody, and how to change that', async (context) => {
  needsRoot(context)
  const dataDir = join(tempFolder(), 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  fs.chownSync(dataDir, nobody.uid, nobody.gid)
  const lines: string[] = []

  await start(dataDir, { log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }) })

  const command = expect.stringContaining(`chown -R ${dedicated ?? 'assay'}: '${join(dataDir, 'postgres')}'`)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, command, msg: expect.stringContaining('nobody') }])
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
