import { createHmac } from 'node:crypto'
import { deriveSecret, type SealingKey } from './seal.ts'

const SHORTEST = 2
const LONGEST = 12

/** What a row is found by: a keyed hash of every beginning of every word, so the database never holds a word. */
export function indexTerms(team: SealingKey, texts: string[], field = '') {
  const beginnings = texts.flatMap(wordsOf).flatMap((word) => {
    const lengths = Array.from({ length: Math.min(word.length, LONGEST) - SHORTEST + 1 }, (_, i) => i + SHORTEST)
    return lengths.map((length) => word.slice(0, length))
  })
  return hashed(team, field, beginnings)
}

/** What to look for: each word of the query by its beginning. */
export const queryTerms = (team: SealingKey, query: string, field = '') =>
  hashed(
    team,
    field,
    wordsOf(query).map((word) => word.slice(0, LONGEST)),
  )

/** A field keeps its words apart from those of other fields. */
function hashed(team: SealingKey, field: string, words: string[]) {
  const key = deriveSecret(team, `blind index ${field}`.trim())
  return [...new Set(words)].map((word) => createHmac('sha256', key).update(word).digest('base64url').slice(0, 12))
}

const DATE = /(?<![\d-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])/g

/** Letters that are no base letter with a mark, as people type them on another keyboard. */
const letters: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
const folded = (text: string) => text.replace(/[ßæœøłđðþı]/g, (letter) => letters[letter] as string)

/** Words without case, accents and punctuation; a date is one word, and so is a phone number, whatever its separators. */
export function wordsOf(text: string): string[] {
  const plain = folded(text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase())
  const joined = plain.replace(DATE, ';$1$2$3;').replace(/(?<=\d)[\s().-]+(?=\d)/g, '')
  return joined
    .split(/[^\p{L}\p{N}@._-]+/u)
    .flatMap((word) => word.split(/[@._-]+/))
    .filter((word) => word.length >= SHORTEST)
}
