const WIDTH = 120

/** Wraps prose at 120 columns without breaking a code span or a link. */
export function wrap(text: string, indent = ''): string[] {
  const lines: string[] = []
  for (const word of text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(last === undefined ? word : `${indent}${word}`)
  }
  return lines
}

/** Paragraphs, each wrapped and followed by an empty line. */
export const prose = (...paragraphs: string[]) => paragraphs.flatMap((text) => [...wrap(text), ''])

/** List items, each wrapped, and an empty line after the list. */
export const bullets = (items: string[]) => [...items.flatMap((text) => wrap(`- ${text}`, '  ')), '']

export const code = (text: string) => `\`${text}\``

export const codes = (words: readonly string[]) => words.map(code).join(', ')

const endpoint = String.raw`(?:GET|POST|PUT|PATCH|DELETE) /[\w/{}?=-]*`
const url = String.raw`\w+://[^\s,;]+`
const header = '[xX](?:-[A-Za-z]+)+(?:: 1)?'
const path = String.raw`(?<![\w}])/[a-z][\w/{}-]*`
const option = '(?<![\\w-])--[a-z][a-z-]*'
const npm = 'npm (?:start|test|run [a-z:]+)'
const dotted = String.raw`[a-z]\w*(?:\.[\w{}]+)+`
const snake = String.raw`\w*[A-Za-z0-9]_\w*`
const names = new RegExp(`\`[^\`]*\`|(?:${[endpoint, url, header, option, npm, path, dotted, snake].join('|')})`, 'g')

/** Marks endpoints, headers, fields and settings in a sentence as code; spans that are code already stay as they are. */
export const inlineCode = (text: string) => text.replace(names, (name) => (name.startsWith('`') ? name : code(name)))

export function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), '']
}
