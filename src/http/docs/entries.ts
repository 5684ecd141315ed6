import type { Token } from 'marked'
import type { Entry } from './assets/find.js'
import { findNamedRows, isTable, outlineOf, plainRow, plainText, rowId } from './outline.ts'
import { type DocsPage, pathOf } from './pages.ts'

/** Builds the search entries of a page: one per section and one per named table row. */
export function entriesOf(page: DocsPage, tokens: Token[]): Entry[] {
  const headings = outlineOf(tokens)
  const names = findNamedRows(tokens)
  const entry = (title: string, id: string, text: string): Entry => ({ page: page.title, title, path: `${pathOf(page)}${id}`, text })
  const found: Entry[] = []
  let section = entry(page.title, '', page.about)
  found.push(section)
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading && heading.depth > 1) {
      section = entry(heading.text, `#${heading.id}`, '')
      found.push(section)
    }
    if (heading) continue
    const rows = isTable(token) ? token.rows.filter((row) => names.has(row)) : []
    for (const row of rows) {
      const name = names.get(row) as string
      found.push(entry(name, `#${rowId(name)}`, plainRow(row.slice(1))))
    }
    const text = isTable(token) ? plainTable(token.rows.filter((row) => !names.has(row))) : plainText(token)
    section.text = `${section.text} ${text}`.replace(/\s+/g, ' ').trim()
  }
  return found
}

const plainTable = (rows: Parameters<typeof plainRow>[0][]) => rows.map(plainRow).join(' ')
