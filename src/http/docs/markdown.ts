import { Marked, type Token, type Tokens } from 'marked'
import { type Html, html } from '../../platform/html.ts'
import { codeBox } from './code.ts'
import { diagramOf, siteUrl } from './links.ts'
import { findNamedRows, outlineOf, rowId } from './outline.ts'
import { pageAt } from './pages.ts'

export const tokensOf = (markdown: string): Token[] => new Marked().lexer(markdown)

/** Renders a page as HTML. `findDiagram` returns a diagram's SVG by its name. */
export function htmlOf(slug: string, tokens: Token[], findDiagram: (name: string) => string | undefined): Html {
  const headings = outlineOf(tokens)
  const names = findNamedRows(tokens)
  let section = ''
  const marked = new Marked({
    renderer: {
      heading(token) {
        const text = { html: this.parser.parseInline(token.tokens) }
        const { id, text: headingText } = headings.get(token) ?? { id: '', text: '' }
        section = headingText
        if (token.depth === 1) return html`<h1 id="${id}">${text}</h1>`.html
        const tag = { html: `h${token.depth}` }
        return html`<div class="heading"><${tag} id="${id}">${text}</${tag}><a class="anchor" href="#${id}" aria-label="Link to ${headingText}">#</a></div>`
          .html
      },
      link({ href, text: label, tokens }) {
        const to = siteUrl(slug, href)
        // A link whose text is a file name shows the page title on the site.
        const pageTitle = label === href && pageAt(to?.slice('/docs/'.length) ?? '')?.title
        const text = pageTitle ? html`${pageTitle}` : { html: this.parser.parseInline(tokens) }
        if (!to) return text.html
        return html`<a href="${to}"${/^https?:/.test(to) && { html: ' rel="noreferrer"' }}>${text}</a>`.html
      },
      image({ href, text }) {
        const name = diagramOf(slug, href)
        const svg = name && findDiagram(name)
        return svg ? figure(svg, text).html : html`<em>${text}</em>`.html
      },
      codespan({ text }) {
        return html`<code>${withBreaks(text)}</code>`.html
      },
      code({ text, lang }) {
        return codeBox(text, lang).html
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tag: Html) =>
          row.map((cell) => html`<${tag}>${{ html: this.parser.parseInline(cell.tokens) }}</${tag}>`)
        const body = rows.map((row) => html`<tr${rowAnchor(names.get(row))}>${cells(row, { html: 'td' })}</tr>`)
        return html`<div class="table" role="group" aria-label="Table: ${section}" tabindex="0"><table><thead><tr>${cells(header, { html: 'th' })}</tr></thead><tbody>${body}</tbody></table></div>`
          .html
      },
      html({ text }) {
        return text.startsWith('<!--') ? '' : html`${text}`.html
      },
    },
  })
  return { html: marked.parser(tokens) }
}

const LONG_NAME = 24

/** Lets a long name break after dots and slashes, so it fits a narrow screen. */
const withBreaks = (text: string) =>
  text.length <= LONG_NAME ? text : text.split(/(?<=[./])(?=\w)/).map((part, i) => html`${i > 0 && { html: '<wbr>' }}${part}`)

const rowAnchor = (name: string | undefined) => name !== undefined && html` id="${rowId(name)}"`

/** Inlines a diagram so its colors follow the page theme. The diagram's own style sheet is for opening the file directly. */
const figure = (svg: string, alt: string) => {
  const inlined = svg.replace(/<style>[\s\S]*?<\/style>\s*/, '').replace('<svg ', html`<svg role="img" aria-label="${alt}" `.html)
  return html`<span class="diagram" role="group" aria-label="${alt}" tabindex="0">${{ html: inlined }}</span>`
}
