import type { Charset } from './rules-charset.ts'
import type { Delimiters } from './rules-delimiters.ts'

/**
 * Replaces escape sequences by their text. `parts` is the text, split at the escape character. An unknown sequence stays as it
 * is. Highlighting is dropped.
 */
export function unescapeParts(parts: string[], delimiters: Delimiters, charset: Charset): string {
  let text = parts[0] ?? ''
  for (let i = 1; i < parts.length; i++) {
    const replacement = i < parts.length - 1 ? textOf(parts[i] as string, delimiters, charset) : undefined
    // The end of an unknown sequence can be the start of the next one.
    text += replacement === undefined ? delimiters.escaper + parts[i] : replacement + parts[++i]
  }
  return text
}

const letters = { F: 'field', S: 'component', R: 'repetition', T: 'subcomponent', E: 'escaper', P: 'truncation' } as const

function textOf(sequence: string, delimiters: Delimiters, charset: Charset): string | undefined {
  const delimiter = letters[sequence as keyof typeof letters]
  if (delimiter) return delimiters[delimiter] || undefined
  if (sequence === 'H' || sequence === 'N') return ''
  if (sequence === '.br') return '\n'
  if (/^X(?:[0-9A-Fa-f]{2})+$/.test(sequence)) return bytesOf(sequence, charset)
  return undefined
}

/** Bytes in the character set of the message. */
function bytesOf(sequence: string, charset: Charset) {
  const bytes = Buffer.from(sequence.slice(1), 'hex')
  const text = charset === 'UNICODE UTF-8' ? bytes.toString('utf8') : bytes.toString('latin1')
  // Like NUL outside of a sequence.
  return text.includes('\ufffd') ? undefined : text.replaceAll('\0', '')
}

/** Replaces delimiters, line breaks and control characters by escape sequences. */
export const escapeText = (text: string, delimiters: Delimiters): string =>
  text.replace(/[^A-Za-z0-9 ]/g, (character) => sequenceOf(character, delimiters) ?? character)

function sequenceOf(character: string, delimiters: Delimiters) {
  const { escaper } = delimiters
  const letter = Object.entries(letters).find(([, name]) => delimiters[name] === character)?.[0]
  if (letter) return escaper + letter + escaper
  if (character === '\n' && !Object.values(delimiters).includes('.')) return `${escaper}.br${escaper}`
  return character < ' ' || character === '\x7f' ? `${escaper}X${hexOf(character)}${escaper}` : undefined
}

const hexOf = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')
