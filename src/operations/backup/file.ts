import { createHash, randomBytes } from 'node:crypto'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Problem, setupProblem } from '../../platform/problem.ts'
import { bytesOf, decryptStream, encryptStream, streamKey } from '../../platform/sealing/stream.ts'
import type { Vault } from '../../platform/sealing/vault.ts'
import { BackupHeader, Contents, End } from './format.ts'

const PURPOSE = 'backup'
/** More than a header with a thousand versions of the root. */
const MAX_HEADER_BYTES = 1024 * 1024

/** The header authenticates with every chunk, so it cannot be changed either. */
const associatedData = (line: Buffer) => createHash('sha256').update(line).digest()

type NewHeader = Omit<BackupHeader, 'assay_backup' | 'key_version' | 'salt'>

/**
 * Writes a backup: the header as one line of JSON, and then a compressed and encrypted stream with one line per row. The key
 * derives from the root, so only Assay can write a backup that a restore accepts.
 */
export function backupWriter(output: Writable, vault: Vault, header: NewHeader) {
  const current = vault.roots.find(({ key }) => key === vault.root)
  const salt = randomBytes(32)
  const whole: BackupHeader = { assay_backup: 2, ...header, key_version: current?.version ?? 0, salt: salt.toString('base64') }
  const line = Buffer.from(JSON.stringify(whole))
  const zip = createGzip({ level: 6 })
  // Its reader reports the error.
  zip.on('error', () => {})
  const done = pipeline(async function* () {
    yield Buffer.concat([line, Buffer.from('\n')])
    yield* encryptStream(streamKey(vault.root, PURPOSE, salt), associatedData(line), zip)
  }, output)
  done.catch(() => {})
  const writeLine = async (text: string) => {
    if (!zip.write(`${text}\n`)) await Promise.race([new Promise((resolve) => zip.once('drain', resolve)), done])
  }
  return {
    contents: (contents: Contents) => writeLine(JSON.stringify(contents)),
    row: (table: string, row: string) => writeLine(`{"table":${JSON.stringify(table)},"row":${row}}`),
    abort: (error: Error) => zip.destroy(error),
    async end(end: End) {
      zip.end(`${JSON.stringify({ end })}\n`)
      await done
    },
  }
}

export type Reader = {
  contents: Contents
  rows: AsyncGenerator<{ table: string; row: string }>
  /** Works once every row was read. */
  end(): End
}

/** Reads the header, which is not authenticated yet, and then the rest with the vault that it belongs to. */
export async function openBackup(source: Readable) {
  const failed = new Promise<never>((_, reject) => source.once('error', reject))
  failed.catch(() => {})
  const bytes = bytesOf(source)
  const line = await Promise.race([bytes.line(MAX_HEADER_BYTES), failed]).catch(unreadable)
  const header = BackupHeader.safeParse(parseLine(line?.toString()))
  if (!line || !header.success) throw setupProblem('The file is not an Assay backup, or it comes from an unknown version')
  return { header: header.data, read: (vault: Vault) => readContents(vault, header.data, line, bytes.rest()) }
}

async function readContents(vault: Vault, header: BackupHeader, line: Buffer, rest: AsyncIterable<Buffer>): Promise<Reader> {
  const root = vault.roots.find(({ version }) => version === header.key_version)
  if (!root) throw changed()
  const key = streamKey(root.key, PURPOSE, Buffer.from(header.salt, 'base64'))
  const zip = createGunzip()
  // A failure of the source or of the decryption ends the reading of `zip` with the same error.
  pipeline(Readable.from(decryptStream(key, associatedData(line), rest)), zip).catch(() => {})
  const lines = readLines(zip)
  const contents = Contents.safeParse(parseLine((await lines.next()).value))
  if (!contents.success) throw setupProblem('The backup comes from an unknown version. Restore it with the version that wrote it')
  let end: End | undefined
  async function* rows() {
    let count = 0
    for await (const line of lines) {
      const last = line.startsWith('{"end":') ? End.safeParse((parseLine(line) as { end: unknown }).end) : undefined
      if (last?.success) end = last.data
      if (last) break
      count++
      yield splitRow(line)
    }
    // The rest authenticates the last line.
    for await (const _ of lines) throw changed()
    if (!end || end.rows !== count) throw changed()
  }
  return { contents: contents.data, rows: rows(), end: () => end as End }
}

async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<string, undefined> {
  let rest: Buffer[] = []
  try {
    for await (const piece of source) {
      let from = 0
      for (let to = piece.indexOf(0x0a); to >= 0; to = piece.indexOf(0x0a, from)) {
        yield Buffer.concat([...rest, piece.subarray(from, to)]).toString()
        rest = []
        from = to + 1
      }
      rest.push(piece.subarray(from))
    }
  } catch (error) {
    unreadable(error)
  }
  return undefined
}

const changed = () => setupProblem('The backup was changed after it was written, or another key wrote it. Use another backup')

/** Reports a failure to read, decrypt or decompress as a setup problem. */
function unreadable(error: unknown): never {
  if (error instanceof Problem) throw error
  const { cause, code } = error as NodeJS.ErrnoException
  if (cause === 'cut off') throw setupProblem('The backup was cut off: its end is missing. Use another backup')
  if (cause === 'changed') throw changed()
  throw setupProblem(`The backup cannot be read: ${code ?? 'it is damaged'}`)
}

function splitRow(line: string) {
  const [, table, row] = /^\{"table":"(\w+)","row":(\{.*\})\}$/s.exec(line) ?? []
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
