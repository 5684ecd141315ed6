import { openPdf } from './pdf/rules-file.ts'
import { pagesOf, textOf } from './pdf/rules-text.ts'
import { isHl7, readHl7 } from './rules-hl7.ts'
import { readReport } from './rules-report.ts'
import { readCsv, readJson } from './rules-structured.ts'
import type { FileReport, ParsedFile } from './rules-values.ts'

const startsWith = (bytes: Buffer, ...prefix: number[]) => prefix.every((byte, i) => bytes[i] === byte)

/** Reads one file. Its content decides what it is, because names and types that clients send are often wrong. */
export function parseFile(bytes: Buffer): ParsedFile {
  // JPEG, PNG, TIFF and GIF: reading them would need text recognition.
  const isImage =
    startsWith(bytes, 0xff, 0xd8, 0xff) ||
    startsWith(bytes, 0x89, 0x50, 0x4e, 0x47) ||
    startsWith(bytes, 0x49, 0x49, 0x2a, 0) ||
    startsWith(bytes, 0x4d, 0x4d, 0, 0x2a) ||
    startsWith(bytes, 0x47, 0x49, 0x46, 0x38)
  if (isImage) return { failure: 'low_quality' }
  if (bytes.subarray(0, 1024).includes('%PDF-')) return parsePdf(bytes)
  if (isHl7(bytes)) return fileOf(readHl7(bytes))
  const content = bytes.toString('utf8').replace(/^\ufeff/, '')
  return fileOf(/^\s*\{/.test(content) ? readJson(content) : readCsv(content))
}

const fileOf = (report: FileReport | undefined): ParsedFile => (report ? { report } : { failure: 'invalid_input' })

function parsePdf(bytes: Buffer): ParsedFile {
  const file = openPdf(bytes)
  if (!file || file.isEncrypted) return { failure: 'invalid_input' }
  const pages = pagesOf(file)
  if (!pages) return { failure: 'too_many_pages' }
  const texts = pages.map((page) => textOf(file, page))
  const report = readReport(texts)
  if (report) return { report }
  const isScanned = texts.length > 0 && (texts.every(({ pieces }) => !pieces.length) || texts.some(({ hasImages }) => hasImages))
  return { failure: isScanned ? 'low_quality' : 'invalid_input' }
}
