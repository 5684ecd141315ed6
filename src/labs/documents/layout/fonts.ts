import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'
import { unpackWoff } from './woff.ts'

export type Weight = 'regular' | 'bold'

const files = {
  noto: '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
  noto_bold: '@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf',
  dejavu: 'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
  dejavu_bold: 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf',
  unifont: '@fontsource/unifont/files/unifont-latin-400-normal.woff',
}
export type Face = keyof typeof files

/** The fonts tried for each character, in order. The last one covers nearly all of Unicode. */
export const chains: Record<Weight, Face[]> = {
  regular: ['noto', 'dejavu', 'unifont'],
  bold: ['noto_bold', 'dejavu_bold', 'unifont'],
}

const loaded = new Map<Face, Font>()

/** Fonts are cached, because parsing one costs more than drawing a document. */
export function fontOf(face: Face) {
  const font = loaded.get(face) ?? load(face)
  loaded.set(face, font)
  return font
}

export const hasGlyphs = (face: Face, text: string) =>
  [...text].every((char) => fontOf(face).hasGlyphForCodePoint(char.codePointAt(0) ?? 0))

/**
 * fontkit caches each glyph with the character that first requested it, and that character becomes the text in the file.
 * Clearing the cache before each document keeps its text independent of earlier documents. Drawing is synchronous, so no
 * other document interferes.
 */
export function forgetGlyphs() {
  // The cache is private to fontkit, whose version is pinned; test/documents/fonts.test.ts fails if this stops working.
  for (const font of loaded.values()) (font as unknown as { _glyphs: object })._glyphs = {}
}

function load(face: Face) {
  const file = readFileSync(createRequire(import.meta.url).resolve(files[face]))
  // fontkit would inflate the tables of a compressed font again for each glyph.
  const font = create(file.toString('latin1', 0, 4) === 'wOFF' ? unpackWoff(file) : file)
  if (!('hasGlyphForCodePoint' in font)) throw new Error(`${files[face]} is a collection, not a font.`)
  return font
}
