import { graphemesOf } from './runs.ts'

type WidthOf = (text: string) => number

/** Breaks lines at spaces, and inside a word only if it is wider than a line. */
export function wrap(text: string, width: number, widthOf: WidthOf): string[] {
  return text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, width, widthOf))
}

/** Truncates the text with an ellipsis if it does not fit. */
export function shorten(text: string, width: number, widthOf: WidthOf) {
  const line = text.replaceAll('\n', ' ')
  if (widthOf(line) <= width) return line
  const [beginning = ''] = splitWord(line, width - widthOf('…'), widthOf)
  return `${beginning.trimEnd()}…`
}

function wrapParagraph(paragraph: string, width: number, widthOf: WidthOf) {
  const space = widthOf(' ')
  const lines: string[] = []
  let used = Number.POSITIVE_INFINITY
  for (const word of paragraph.split(/ +/).filter(Boolean)) {
    const wordWidth = widthOf(word)
    if (used + space + wordWidth <= width) {
      lines[lines.length - 1] += ` ${word}`
      used += space + wordWidth
      continue
    }
    lines.push(...(wordWidth <= width ? [word] : splitWord(word, width, widthOf)))
    used = wordWidth <= width ? wordWidth : widthOf(lines.at(-1) ?? '')
  }
  return lines.length ? lines : ['']
}

function splitWord(word: string, width: number, widthOf: WidthOf) {
  const pieces = ['']
  let used = 0
  for (const grapheme of graphemesOf(word)) {
    const graphemeWidth = widthOf(grapheme)
    if (used > 0 && used + graphemeWidth > width) {
      pieces.push('')
      used = 0
    }
    pieces[pieces.length - 1] += grapheme
    used += graphemeWidth
  }
  return pieces
}
