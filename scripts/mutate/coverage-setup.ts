import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, expect } from 'vitest'
import { coverageFolder, type FileCoverage } from './coverage.ts'

const src = pathToFileURL(join(process.cwd(), 'src/')).href
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

// Node replaces types with spaces, so the positions are those of the source.
afterAll(async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const functions: FileCoverage['functions'] = {}
  for (const { url, functions: found } of result) {
    if (!url.startsWith(src)) continue
    const called = found.flatMap(({ functionName, ranges: [range] }) =>
      range?.count && (functionName || range.startOffset) ? [[range.startOffset, range.endOffset] as [number, number]] : [],
    )
    if (called.length) functions[relative(process.cwd(), fileURLToPath(url))] = called
  }
  const test = relative(process.cwd(), expect.getState().testPath as string)
  mkdirSync(coverageFolder, { recursive: true })
  const file = join(coverageFolder, `${createHash('sha256').update(test).digest('hex').slice(0, 16)}.json`)
  writeFileSync(file, JSON.stringify({ test, functions } satisfies FileCoverage))
})
