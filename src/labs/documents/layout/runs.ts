import { chains, type Face, hasGlyphs, type Weight } from './fonts.ts'

export type Run = { face: Face; text: string }

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Splits a text into runs by the first font that has the characters. Characters without a font print as code points. */
export function runsOf(text: string, weight: Weight): Run[] {
  const first = chains[weight][0] as Face
  if (hasGlyphs(first, text)) return [{ face: first, text }]
  const runs: Run[] = []
  for (const grapheme of graphemesOf(text)) {
    // A space joins the run before it, so that a right-to-left name stays in one run and in order.
    const last = runs.at(-1)
    for (const run of grapheme === ' ' && last ? [{ face: last.face, text: ' ' }] : runsOfGrapheme(grapheme, weight)) append(runs, run)
  }
  return runs
}

export const graphemesOf = (text: string) => Array.from(graphemes.segment(text), ({ segment }) => segment)

/** Normalizes a text: NFC, \n line ends, no control characters, direction marks or variation selectors. */
export const normalizeText = (text: string) =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Variation_Selector}]/gu, '')

function append(runs: Run[], run: Run) {
  const last = runs.at(-1)
  if (last?.face === run.face) last.text += run.text
  else runs.push({ ...run })
}

function runsOfGrapheme(grapheme: string, weight: Weight): Run[] {
  const face = chains[weight].find((face) => hasGlyphs(face, grapheme))
  if (face) return [{ face, text: grapheme }]
  const chars = [...grapheme]
  return chars.length > 1
    ? chars.flatMap((char) => runsOfGrapheme(char, weight))
    : [{ face: chains[weight][0] as Face, text: codePoint(grapheme) }]
}

/** Names without a font must still differ from each other. */
const codePoint = (char: string) => `[U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`
