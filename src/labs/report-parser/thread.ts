import { parentPort, workerData } from 'node:worker_threads'
import { parseFile } from './rules-parse.ts'
import { combineFiles } from './rules-values.ts'

const files = workerData as Uint8Array[]
parentPort?.postMessage(combineFiles(files.map((bytes) => parseFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))))
