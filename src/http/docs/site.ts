import type { Index } from './assets/find.js'
import { assetAt, readProjectFile, type SiteFile } from './assets.ts'
import { layout, type PageContent } from './layout.ts'
import { htmlOf, tokensOf } from './markdown.ts'
import { outlineOf } from './outline.ts'
import { indexResponse, missingResponse, searchResponse } from './page-response.ts'
import { pageAt } from './pages.ts'

/** Renders the file at a path under /docs/. The caller caches it. */
export function renderPath(path: string): SiteFile | undefined {
  if (path === '') return htmlFile(indexResponse)
  const [, folder, name = ''] = /^(assets|diagrams)\/([\w-]+\.\w+)$/.exec(path) ?? []
  if (folder === 'assets') return assetAt(name)
  if (folder === 'diagrams') return diagramFile(name)
  return path.endsWith('.md') ? markdownFile(path.slice(0, -3)) : pageFile(path)
}

export const searchPage = (index: Index, query: string) => htmlFile(searchResponse(index, query))

export const missingPage = () => htmlFile(missingResponse)

const htmlFile = (content: PageContent): SiteFile => ({ type: 'text/html; charset=utf-8', text: layout(content) })

/** Reads only pages of the table, so no URL reaches another file. */
export const markdownOf = (slug: string) => (pageAt(slug) ? readProjectFile(`docs/${slug}.md`) : undefined)

function pageFile(slug: string): SiteFile | undefined {
  const [page, markdown] = [pageAt(slug), markdownOf(slug)]
  if (!page || !markdown) return undefined
  const tokens = tokensOf(markdown)
  const { title, about } = page
  return htmlFile({ title, about, page, body: htmlOf(slug, tokens, findDiagram), headings: [...outlineOf(tokens).values()] })
}

function markdownFile(slug: string): SiteFile | undefined {
  const text = markdownOf(slug)
  return text ? { type: 'text/markdown; charset=utf-8', text } : undefined
}

function diagramFile(name: string): SiteFile | undefined {
  const text = name.endsWith('.svg') ? readProjectFile(`docs/diagrams/${name}`) : undefined
  return text ? { type: 'image/svg+xml', text } : undefined
}

const findDiagram = (name: string) => diagramFile(`${name}.svg`)?.text
