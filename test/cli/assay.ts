import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { vi } from 'vitest'
import { run } from '../../src/cli/index.ts'
import { ENCRYPTION_KEY, temporaryFolder } from '../support/world.ts'

const command = join(import.meta.dirname, '../../bin/assay.mjs')

type CommandResult = { code: number | null; out: string; err: string }

/** The CLI. `spawnCommand` runs it in a new process, and `run` in this process, which is faster. */
export function assay(database: string, env: Record<string, string> = {}) {
  const settings = { DATABASE_URL: database, ENCRYPTION_KEY, DATA_DIR: temporaryFolder(), ...env }
  return {
    spawnCommand: (...args: string[]) => spawnCommand(settings, args),
    run: (...args: string[]) => runInProcess(settings, args),
    json: async (...args: string[]) => {
      const { code, out, err } = await runInProcess(settings, [...args, '--json'])
      if (code !== 0) throw new Error(`assay ${args[0]} ended with ${code}: ${err}`)
      return JSON.parse(out)
    },
  }
}

function spawnCommand(settings: Record<string, string>, args: string[]) {
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: process.env['NODE_OPTIONS'], ...settings }
  return new Promise<CommandResult>((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { out: '', err: '' }
    child.stdout.on('data', (text) => {
      output.out += text
    })
    child.stderr.on('data', (text) => {
      output.err += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
}

async function runInProcess(settings: Record<string, string>, args: string[]): Promise<CommandResult> {
  const output = { out: '', err: '' }
  const log = vi.spyOn(console, 'log').mockImplementation((line) => {
    output.out += `${line}\n`
  })
  const error = vi.spyOn(console, 'error').mockImplementation((line) => {
    output.err += `${line}\n`
  })
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  try {
    await run(args)
    return { code: Number(process.exitCode ?? 0), ...output }
  } finally {
    process.exitCode = undefined
    vi.unstubAllEnvs()
    log.mockRestore()
    error.mockRestore()
  }
}
