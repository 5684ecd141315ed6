import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { setupProblem } from '../../platform/problem.ts'

/** A version of the root secret, encrypted as in the database. */
const Root = z.object({
  version: z.int(),
  id: z.uuid(),
  wrapped: z.base64(),
  wrapped_by: z.string(),
  active: z.boolean(),
  retired: z.boolean(),
})

const Table = z.object({ name: z.string(), columns: z.array(z.string()) })

const BackupHeader = z.object({
  assay_backup: z.literal(2),
  version: z.string(),
  created_at: z.string(),
  environment: z.string(),
  region: z.string(),
  key_check: z.string(),
  roots: z.array(Root),
  migrations: z.array(z.string()),
  tables: z.array(Table),
  partitions: z.array(z.object({ name: z.string(), parent: z.string(), bound: z.string() })),
})
export type BackupHeader = z.output<typeof BackupHeader>

const End = z.object({
  rows: z.int(),
  sequences: z.array(z.object({ name: z.string(), last: z.string().nullable() })),
  digest: z.string().optional(),
})
type End = z.output<typeof End>

/** Writes one compressed line per row. The last line holds the row count and a hash. */
export function backupWriter(path: string) {
  const zip = createGzip({ level: 6 })
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx', flush: true })
  zip.pipe(file)
  const digest = createHash('sha256')
  const failed = new Promise<never>((_, reject) => file.once('error', reject))
  failed.catch(() => {})
  const writeLine = async (line: string) => {
    digest.update(line)
    if (!zip.write(`${line}\n`)) await Promise.race([new Promise((resolve) => zip.once('drain', resolve)), failed])
  }
  return {
    header: (header: BackupHeader) => writeLine(JSON.stringify(header)),
    row: (table: string, row: string) => writeLine(`{"table":${JSON.stringify(table)},"row":${row}}`),
    async end(end: Omit<End, 'digest'>) {
      zip.end(`${JSON.stringify({ end: { ...end, digest: digest.digest('hex') } })}\n`)
      await finished(file)
    },
  }
}

export type Reader = { header: BackupHeader; rows: AsyncGenerator<{ table: string; row: string }>; end(): End }

/** Reads a backup. `end` works once every row was read, and rejects a file that was cut off or changed. */
export async function backupReader(path: string): Promise<Reader> {
  const source = createReadStream(path)
  const lines = createInterface({ input: source.pipe(createGunzip()), crlfDelay: Number.POSITIVE_INFINITY })
  const lineReader = readLines(lines, source)
  const first = await lineReader.next()
  const header = BackupHeader.safeParse(parseLine(first.value))
  if (!header.success) throw setupProblem('The file is not an Assay backup, or it comes from an unknown version')
  const digest = createHash('sha256').update(first.value as string)
  let end: End | undefined
  async function* rows() {
    let count = 0
    for await (const line of lineReader) {
      const last = line.startsWith('{"end":') ? End.safeParse((parseLine(line) as { end: unknown }).end) : undefined
      if (last?.success) end = last.data
      if (last) break
      digest.update(line)
      count++
      yield splitRow(line)
    }
    if (!end) throw setupProblem('The backup was cut off: its last line is missing. Use another backup')
    if (end.rows !== count || end.digest !== digest.digest('hex'))
      throw setupProblem('The backup was changed after it was written: its rows do not match its last line. Use another backup')
  }
  return { header: header.data, rows: rows(), end: () => end as End }
}

/** Reports a read or decompression error as a setup problem. */
async function* readLines(lines: AsyncIterable<string>, source: NodeJS.EventEmitter): AsyncGenerator<string, undefined> {
  const failed = new Promise<never>((_, reject) => source.once('error', reject))
  failed.catch(() => {})
  const lineReader = lines[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await Promise.race([lineReader.next(), failed])
      if (next.done) return undefined
      yield next.value
    }
  } catch (error) {
    throw setupProblem(`The backup cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is damaged'}`)
  }
}

function splitRow(line: string) {
  const [, table, row] = /^\{"table":"(\w+)","row":(.*)\}$/s.exec(line) ?? []
  if (!table || !row) throw setupProblem('The backup has an invalid line. Use another backup')
  return { table, row }
}

function parseLine(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '')
  } catch {
    return undefined
  }
}
