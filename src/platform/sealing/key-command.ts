import { execFile } from 'node:child_process'
import { setupProblem } from '../problem.ts'
import { SECOND } from '../time.ts'
import { type KeyEncryptionKey, packKey, unpackKey } from './key-encryption.ts'

const TIMEOUT_MS = 30 * SECOND
const MAX_BYTES = 64 * 1024

/**
 * A key-encryption key behind a program. Assay runs it with the argument `wrap` or `unwrap`, writes one line to its standard
 * input, and reads one line from its standard output. `wrap` gets base64 and prints any text; `unwrap` gets that text and
 * prints the base64.
 */
export const keyFromCommand = (program: string, env: NodeJS.ProcessEnv): KeyEncryptionKey => ({
  name: 'ENCRYPTION_KEY_COMMAND',
  wrap: async (id, bytes) => Buffer.from(await run(program, env, 'wrap', packKey(id, bytes))),
  unwrap: async (id, wrapped) => {
    const key = unpackKey(id, await run(program, env, 'unwrap', wrapped.toString()))
    if (!key) throw setupProblem('ENCRYPTION_KEY_COMMAND unwrap did not print the key that it wrapped; check the program and its key')
    return key
  },
})

/** What the program prints may be secret, so the error has its exit code only. */
function run(program: string, env: NodeJS.ProcessEnv, mode: 'wrap' | 'unwrap', line: string) {
  return new Promise<string>((resolve, reject) => {
    const child = execFile(program, [mode], { env, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, killSignal: 'SIGKILL' }, (error, out) => {
      const text = out.trim()
      if (!error && text && !text.includes('\n')) return resolve(text)
      reject(setupProblem(`ENCRYPTION_KEY_COMMAND ${mode} ${reasonOf(error)}; run ${program} ${mode} to find out why`))
    })
    // A program that ends without reading breaks the pipe. Its exit code is the reason to report.
    child.stdin?.on('error', () => {})
    child.stdin?.end(`${line}\n`)
  })
}

function reasonOf(error: Parameters<Parameters<typeof execFile>[3] & {}>[0]) {
  if (!error) return 'did not print one line'
  if (error.killed) return `did not end within ${TIMEOUT_MS / SECOND} s`
  return typeof error.code === 'number' ? `ended with ${error.code}` : `cannot run (${error.code ?? error.signal})`
}
