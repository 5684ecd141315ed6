import type { Token, Tokens } from 'marked'

export type Heading = { depth: number; id: string; text: string }

/** Gives headings the same anchors as GitHub, so links work in a checkout and on the site. */
export function outlineOf(tokens: Token[]): Map<Token, Heading> {
  const counts = new Map<string, number>()
  return new Map(
    tokens.filter(isHeading).map((token) => {
      const text = plainText(token)
      const anchor = anchorOf(text)
      const earlier = counts.get(anchor) ?? 0
      counts.set(anchor, earlier + 1)
      return [token, { depth: token.depth, text, id: earlier ? `${anchor}-${earlier}` : anchor }]
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

/** Finds the table rows whose first cell is a code that is unique on the page. Each gets an anchor and a search entry. */
export function findNamedRows(tokens: Token[]): Map<Tokens.TableCell[], string> {
  const rows = tokens.filter(isTable).flatMap((table) => table.rows.map((row) => [row, codeIn(row[0])] as const))
  const counts = Map.groupBy(rows, ([, name]) => name)
  return new Map(rows.flatMap(([row, name]) => (name && counts.get(name)?.length === 1 ? [[row, name]] : [])))
}

export const isTable = (token: Token): token is Tokens.Table => token.type === 'table'

export const rowId = (name: string) => `row-${name.replace(/\s/g, '-')}`

const codeIn = (cell: Tokens.TableCell | undefined) =>
  cell?.tokens.length === 1 && cell.tokens[0]?.type === 'codespan' ? plainText(cell.tokens[0]) : undefined

/** Returns the visible text of a token. */
export function plainText(token: Token): string {
  if (token.type === 'html') return ''
  if (token.type === 'br') return ' '
  if (isTable(token)) return [token.header, ...token.rows].map(plainRow).join(' ')
  if (token.type === 'list') return (token as Tokens.List).items.map(plainText).join(' ')
  if ('tokens' in token && token.tokens) return token.tokens.map(plainText).join('')
  return 'text' in token ? token.text : ''
}

export const plainRow = (cells: Tokens.TableCell[]) => cells.map(({ tokens }) => tokens.map(plainText).join('')).join(' ')
