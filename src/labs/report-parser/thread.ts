import { parentPort, workerData } from 'node:worker_threads'
import { type Analyte, matchLoincs } from './rules-loinc.ts'
import { parseFile } from './rules-parse.ts'
import { combineFiles } from './rules-values.ts'

const { files, analytes } = workerData as { files: Uint8Array[]; analytes: Analyte[] }
const parsed = combineFiles(files.map((bytes) => parseFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))))
const matched = 'failure' in parsed ? parsed : { data: { ...parsed.data, results: matchLoincs(parsed.data.results, analytes) } }
const { user, system } = process.threadCpuUsage()
parentPort?.postMessage({ parsed: matched, cpu_ms: (user + system) / 1000 })
