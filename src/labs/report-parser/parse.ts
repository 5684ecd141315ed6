import { Worker } from 'node:worker_threads'
import type { ParsedReport, ParsingFailure } from '../../contract/labs/report-parser.ts'
import { SECOND } from '../../platform/time.ts'
import type { Analyte } from './rules-loinc.ts'

export type Parsed = { data: ParsedReport } | { failure: ParsingFailure }
type Parsing = { parsed: Parsed; cpu_ms: number }

const TIMEOUT_MS = 20 * SECOND
const MEMORY_MB = 512

/** Parses files and matches their results with analytes in a thread of its own, which ends with the job. A file that takes too much time or memory fails. */
export function parseFiles(files: Buffer[], analytes: Analyte[]): Promise<Parsing> {
  const startedAt = performance.now()
  const thread = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: { files, analytes: analytes.map(({ name, loinc }) => ({ name, loinc })) },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    // An error could quote the file.
    stderr: true,
  })
  return new Promise((resolve) => {
    const timer = setTimeout(() => void thread.terminate(), TIMEOUT_MS)
    thread.on('message', resolve)
    thread.on('error', () => {})
    thread.on('exit', () => {
      clearTimeout(timer)
      resolve({ parsed: { failure: 'processing_error' }, cpu_ms: performance.now() - startedAt })
    })
  })
}
