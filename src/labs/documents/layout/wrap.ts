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
    const wide = widthOf(word)
    if (used + space + wide <= width) {
      lines[lines.length - 1] += ` ${word}`
      used += space + wide
      continue
    }
    lines.push(...(wide <= width ? [word] : splitWord(word, width, widthOf)))
    used = wide <= width ? wide : widthOf(lines.at(-1) ?? '')
  }
  return lines.length ? lines : ['']
}

function splitWord(word: string, width: number, widthOf: WidthOf) {
  const pieces = ['']
  let used = 0
  for (const grapheme of graphemesOf(word)) {
    const wide = widthOf(grapheme)
    if (used > 0 && used + wide > width) {
      pieces.push('')
      used = 0
    }
    pieces[pieces.length - 1] += grapheme
    used += wide
  }
  return pieces
}
