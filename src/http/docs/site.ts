import type { Entry } from './assets/find.js'
import { assetAt, type Found, fileAt } from './assets.ts'
import { entriesOf } from './entries.ts'
import { layout, type PageContent } from './layout.ts'
import { htmlOf, tokensOf } from './markdown.ts'
import { outlineOf } from './outline.ts'
import { indexResponse, missingResponse, searchResponse } from './page-response.ts'
import { pageAt, pages } from './pages.ts'

/** What is at a path under /docs/, made from the markdown in `docs/`; whoever serves it keeps it. */
export function foundAt(path: string): Found | undefined {
  if (path === '') return html(indexResponse)
  if (path === 'search.json') return { type: 'application/json; charset=utf-8', text: JSON.stringify(allEntries()) }
  const [, folder, name = ''] = /^(assets|diagrams)\/([\w-]+\.\w+)$/.exec(path) ?? []
  if (folder === 'assets') return assetAt(name)
  if (folder === 'diagrams') return diagramAt(name)
  return path.endsWith('.md') ? rawAt(path.slice(0, -3)) : pageFor(path)
}

export const allEntries = () => pages.flatMap((page) => entriesOf(page, tokensOf(markdownOf(page.slug) ?? '')))

export const searchPage = (entries: Entry[], query: string) => html(searchResponse(entries, query))

export const missingPage = () => html(missingResponse)

const html = (shown: PageContent): Found => ({ type: 'text/html; charset=utf-8', text: layout(shown) })

/** Only what the table has is read, so that no address reaches another file. */
const markdownOf = (slug: string) => (pageAt(slug) ? fileAt(`docs/${slug}.md`) : undefined)

function pageFor(slug: string): Found | undefined {
  const [page, markdown] = [pageAt(slug), markdownOf(slug)]
  if (!page || !markdown) return undefined
  const tokens = tokensOf(markdown)
  const { title, about } = page
  return html({ title, about, page, body: htmlOf(slug, tokens, drawing), headings: [...outlineOf(tokens).values()] })
}

function rawAt(slug: string): Found | undefined {
  const text = markdownOf(slug)
  return text ? { type: 'text/markdown; charset=utf-8', text } : undefined
}

function diagramAt(name: string): Found | undefined {
  const text = name.endsWith('.svg') ? fileAt(`docs/diagrams/${name}`) : undefined
  return text ? { type: 'image/svg+xml', text } : undefined
}

const drawing = (name: string) => diagramAt(`${name}.svg`)?.text
