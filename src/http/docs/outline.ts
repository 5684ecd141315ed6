import type { Token, Tokens } from 'marked'

export type Heading = { depth: number; id: string; text: string }

/** The headings of a page with the anchors that GitHub gives them, so that a link works in a checkout and on the site. */
export function outlineOf(tokens: Token[]): Map<Token, Heading> {
  const taken = new Map<string, number>()
  return new Map(
    tokens.filter(isHeading).map((token) => {
      const text = plain(token)
      const anchor = anchorOf(text)
      const before = taken.get(anchor) ?? 0
      taken.set(anchor, before + 1)
      return [token, { depth: token.depth, text, id: before ? `${anchor}-${before}` : anchor }]
    }),
  )
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

const anchorOf = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-')

/** Rows that one code names, once on the page: an error type, an event type, a setting. Each gets an anchor and is found by the search. */
export function namedRows(tokens: Token[]): Map<Tokens.TableCell[], string> {
  const rows = tokens.filter(isTable).flatMap((table) => table.rows.map((row) => [row, codeIn(row[0])] as const))
  const count = (name: string) => rows.filter(([, other]) => other === name).length
  return new Map(rows.flatMap(([row, name]) => (name && count(name) === 1 ? [[row, name]] : [])))
}

export const isTable = (token: Token): token is Tokens.Table => token.type === 'table'

export const rowId = (name: string) => `row-${name.replace(/\s/g, '-')}`

const codeIn = (cell: Tokens.TableCell | undefined) =>
  cell?.tokens.length === 1 && cell.tokens[0]?.type === 'codespan' ? plain(cell.tokens[0]) : undefined

/** What a reader reads of it. */
export function plain(token: Token): string {
  if (token.type === 'html') return ''
  if (token.type === 'br') return ' '
  if (isTable(token)) return [token.header, ...token.rows].map(plainRow).join(' ')
  if (token.type === 'list') return (token as Tokens.List).items.map(plain).join(' ')
  if ('tokens' in token && token.tokens) return token.tokens.map(plain).join('')
  return 'text' in token ? token.text : ''
}

export const plainRow = (cells: Tokens.TableCell[]) => cells.map(({ tokens }) => tokens.map(plain).join('')).join(' ')
