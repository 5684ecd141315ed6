import { createHmac, type KeyObject } from 'node:crypto'
import { deriveSecret, type SealingKey } from './seal.ts'

const MIN_LENGTH = 2
const MAX_LENGTH = 12

/** The search terms of a row: a keyed hash of every prefix of every word, so the database never holds a word. */
export function indexTerms(team: SealingKey, texts: string[], field = '') {
  const prefixes = texts.flatMap(wordsOf).flatMap((word) => {
    const lengths = Array.from({ length: Math.min(word.length, MAX_LENGTH) - MIN_LENGTH + 1 }, (_, i) => i + MIN_LENGTH)
    return lengths.map((length) => word.slice(0, length))
  })
  return hashWords(team, field, prefixes)
}

/** The terms to look for: each word of the query as a prefix. */
export const queryTerms = (team: SealingKey, query: string, field = '') =>
  hashWords(
    team,
    field,
    wordsOf(query).map((word) => word.slice(0, MAX_LENGTH)),
  )

/** Words of one field never match words of another. */
function hashWords(team: SealingKey, field: string, words: string[]) {
  const key = deriveSecret(team, `blind index ${field}`.trim())
  const known = knownHashes.get(key) ?? new Map<string, string>()
  knownHashes.set(key, known)
  return [...new Set(words)].map((word) => known.get(word) ?? remember(known, word, hashWord(key, word)))
}

const hashWord = (key: KeyObject, word: string) => createHmac('sha256', key).update(word).digest('base64url').slice(0, 12)

/** Names share prefixes. The hashes end with the key in memory, which a process keeps for a short time. */
const knownHashes = new WeakMap<KeyObject, Map<string, string>>()
const MAX_KNOWN_HASHES = 5000

function remember(known: Map<string, string>, word: string, hash: string) {
  if (known.size >= MAX_KNOWN_HASHES) known.clear()
  known.set(word, hash)
  return hash
}

const DATE = /(?<![\d-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])/g

/** Letters that Unicode does not decompose, with the spelling people use on other keyboards. */
const letters: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
const foldLetters = (text: string) => text.replace(/[ßæœøłđðþı]/g, (letter) => letters[letter] as string)

/** Words without case, accents and punctuation. A date or a phone number is one word, whatever its separators. */
export function wordsOf(text: string): string[] {
  const plain = foldLetters(text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase())
  const joined = plain.replace(DATE, ';$1$2$3;').replace(/(?<=\d)[\s().-]+(?=\d)/g, '')
  return joined
    .split(/[^\p{L}\p{N}@._-]+/u)
    .flatMap((word) => word.split(/[@._-]+/))
    .filter((word) => word.length >= MIN_LENGTH)
}
