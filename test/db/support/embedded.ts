import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { afterAll, beforeAll, onTestFinished, type TestContext } from 'vitest'
import { type EmbeddedOptions, startEmbedded } from '../../../src/platform/db/embedded/start.ts'
import { eventually, isAlive, postmasterOf } from '../../support/process.ts'
import { query } from './query.ts'

export const isRoot = process.getuid?.() === 0
export const nobody = { uid: 65534, gid: 65534 }

/** A new folder, removed after the test. Other users can enter it but not read it. */
export function tempFolder() {
  const folder = fs.mkdtempSync(join(tmpdir(), 'assay-test-'))
  fs.chmodSync(folder, 0o711)
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export const optionsFor = (dataDir: string): EmbeddedOptions => ({
  dataDir,
  log: pino({ level: 'silent' }),
  settings: { fsync: 'off' },
})

/** Creates one cluster with a table `kept` for this file. The returned function copies it, in a tenth of the time of a first start. */
export function prepareCluster() {
  const prepared = fs.mkdtempSync(join(tmpdir(), 'assay-test-'))
  beforeAll(async () => {
    const { url, stop } = await startEmbedded(optionsFor(prepared))
    await query(url, 'create table kept as select 42 as answer')
    await stop()
  })
  afterAll(() => fs.rmSync(prepared, { recursive: true, force: true, maxRetries: 5 }))
  return () => {
    const folder = tempFolder()
    execFileSync('cp', ['-a', `${prepared}/.`, folder])
    return folder
  }
}

/** Starts a server that stops with the test. */
export async function start(dataDir: string, more: Partial<EmbeddedOptions> = {}) {
  const embedded = await startEmbedded({ ...optionsFor(dataDir), ...more })
  onTestFinished(() => embedded.stop())
  return embedded
}

type Holder = { child: ChildProcess; pid: number; waitForMessage(...words: string[]): Promise<unknown>; exited: Promise<number | null> }

type HolderOptions = { checkout?: string; account?: { uid: number; gid: number } | undefined }

/** Starts a service in its own process group. */
export function spawnHolder(dataDir: string, { checkout = resolve(import.meta.dirname, '../../..'), account }: HolderOptions = {}): Holder {
  const script = join(checkout, 'test/db/support/holder.ts')
  const child = spawn(process.execPath, [script, dataDir], { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], detached: true, ...account })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const messages = new Map<string, unknown>()
  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on('line', (line) => {
    const { word, value } = JSON.parse(line)
    messages.set(word, value)
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    if (messages.has('ready')) await waitForDatabaseExit(dataDir)
  })
  return {
    child,
    pid: child.pid ?? 0,
    exited,
    waitForMessage: (...words) => eventually(() => words.map((word) => messages.get(word)).find(Boolean)),
  }
}

/** PostgreSQL stops after its killed parent, and a test must wait for that. */
const waitForDatabaseExit = (dataDir: string) =>
  eventually(() => !fs.existsSync(join(dataDir, 'postgres/postmaster.pid')) || !isAlive(postmasterOf(dataDir)))

/** Skips the test. The run ends with the reason. */
export function skipUnless(context: TestContext, condition: boolean, reason: string) {
  if (!condition) context.skip(reason)
}
