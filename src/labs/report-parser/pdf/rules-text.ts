import type { PdfFile } from './rules-file.ts'
import { isDictionary, isOperator, newReader, type Value } from './rules-syntax.ts'

/** A text on a page. y grows upward, and is that of the baseline. */
export type Piece = { x: number; y: number; size: number; text: string }
export type PageText = { pieces: Piece[]; hasImages: boolean }

export const MAX_REPORT_PAGES = 50
const MAX_PIECES = 20_000

/** The pages of a file in order. Undefined if there are too many. */
export function pagesOf(file: PdfFile): Value[] | undefined {
  const pages: Value[] = []
  const seen = new Set<Value>()
  const pending: Value[] = [file.entry(file.root, '/Pages') ?? null]
  while (pending.length) {
    const node = pending.shift() as Value
    // A tree that contains itself would never end.
    if (!isDictionary(node) || seen.has(node)) continue
    seen.add(node)
    const kids = file.entry(node, '/Kids')
    if (Array.isArray(kids)) pending.unshift(...kids.slice(0, MAX_REPORT_PAGES + 1).map((kid) => file.resolve(kid) ?? null))
    else pages.push(node)
    if (pages.length > MAX_REPORT_PAGES || pending.length > 10_000) return undefined
  }
  return pages
}

/** The texts of a page as Assay writes them: one position and font per text, and codes of two bytes with a map to Unicode. */
export function textOf(file: PdfFile, page: Value): PageText {
  const resources = file.entry(page, '/Resources')
  const images = file.entry(resources, '/XObject')
  const fonts = new Map<string, Map<number, string>>()
  const fontOf = (name: string) => {
    const known = fonts.get(name) ?? charactersOf(file, file.entry(file.entry(resources, '/Font'), name))
    fonts.set(name, known)
    return known
  }
  const pieces: Piece[] = []
  for (const bytes of contentsOf(file, page)) readContent(bytes.toString('latin1'), fontOf, pieces)
  return { pieces, hasImages: isDictionary(images) && images.dictionary.size > 0 }
}

function contentsOf(file: PdfFile, page: Value) {
  const contents = isDictionary(page) ? page.dictionary.get('/Contents') : undefined
  const resolved = file.resolve(contents)
  const references = Array.isArray(resolved) ? resolved : [contents]
  return references.slice(0, 100).flatMap((reference) => file.stream(reference) ?? [])
}

const BLANK: Piece = { x: 0, y: 0, size: 0, text: '' }

function readContent(content: string, fontOf: (name: string) => Map<number, string>, pieces: Piece[]) {
  const reader = newReader(content)
  let operands: Value[] = []
  let font: Map<number, string> | undefined
  let piece: Piece = { ...BLANK }
  for (let value = reader.next(); value !== undefined && pieces.length < MAX_PIECES; value = reader.next()) {
    if (!(typeof value === 'object' && value !== null && 'operator' in value)) {
      if (operands.length < 1000) operands.push(value)
      continue
    }
    const numbers = operands.map((operand) => (typeof operand === 'number' ? operand : 0))
    // Later positions within a text move an accent, so the first one counts.
    if (isOperator(value, 'Tm') && !piece.text) piece = { ...piece, x: numbers.at(-2) ?? 0, y: numbers.at(-1) ?? 0 }
    if (isOperator(value, 'Tf')) {
      font = fontOf(String(operands.at(-2)))
      piece.size = numbers.at(-1) ?? 0
    }
    if (isOperator(value, 'TJ') || isOperator(value, 'Tj'))
      piece.text += operands
        .flat()
        .filter((operand) => typeof operand === 'string')
        .map((codes) => decode(codes, font))
        .join('')
    if (isOperator(value, 'ET') && piece.text.trim()) pieces.push(piece)
    if (isOperator(value, 'BT') || isOperator(value, 'ET')) piece = { ...BLANK }
    operands = []
  }
}

/** Without a map to Unicode, the codes are taken for Latin-1. That is enough to see that a page has text. */
function decode(codes: string, characters: Map<number, string> | undefined) {
  if (!characters?.size) return codes
  let text = ''
  for (let i = 0; i + 1 < codes.length; i += 2) text += characters.get(codes.charCodeAt(i) * 256 + codes.charCodeAt(i + 1)) ?? ''
  return text
}

/** The characters of a font by their codes, from the ranges of its map to Unicode. */
function charactersOf(file: PdfFile, font: Value | undefined) {
  const characters = new Map<number, string>()
  const bytes = file.stream(isDictionary(font) ? font.dictionary.get('/ToUnicode') : undefined)
  const reader = newReader(bytes?.toString('latin1') ?? '')
  let operands: Value[] = []
  for (let value = reader.next(); value !== undefined; value = reader.next()) {
    if (isOperator(value, 'endbfrange')) addRanges(characters, operands)
    if (typeof value === 'object' && value !== null && 'operator' in value) operands = []
    else operands.push(value)
  }
  return characters
}

function addRanges(characters: Map<number, string>, operands: Value[]) {
  for (let i = 0; i + 2 < operands.length; i += 3) {
    const [first, , target] = operands.slice(i, i + 3)
    if (typeof first !== 'string' || !Array.isArray(target)) continue
    for (const [offset, text] of target.entries()) if (typeof text === 'string') characters.set(codeOf(first) + offset, utf16(text))
  }
}

const codeOf = (text: string) => [...text].reduce((code, character) => code * 256 + character.charCodeAt(0), 0)

const utf16 = (text: string) =>
  Buffer.from(text.slice(0, text.length & ~1), 'latin1')
    .swap16()
    .toString('utf16le')
