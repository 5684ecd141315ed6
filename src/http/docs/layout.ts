import { type Html, html } from '../../platform/html.ts'
import { assetUrl } from './assets.ts'
import type { Heading } from './outline.ts'
import { type DocsPage, groups, neighborsOf, pathOf, REFERENCE } from './pages.ts'

/** A page of the table, or a page that the site generates; the latter has no `page`. */
export type PageContent = { title: string; about: string; body: Html; page?: DocsPage; headings?: Heading[]; query?: string }

export const layout = (content: PageContent) =>
  html`<!doctype html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${content.about}">
<title>${content.title} · Assay documentation</title>
<link rel="icon" href="${assetUrl('icon.svg')}">
<link rel="stylesheet" href="${assetUrl('docs.css')}">
<script src="${assetUrl('theme.js')}"></script>
<script type="module" src="${assetUrl('docs.js')}"></script>
</head>
<body class="docs">
<a class="skip" href="#content">Skip to content</a>
<div class="frame">
<aside class="side">${brand()}${navigation(content.page)}</aside>
<div>
${topBar(content)}
<main id="content" tabindex="-1">
<article>
${content.page && html`<p class="group">${groupOf(content.page)}</p>`}
${content.body}
${content.page && footer(content.page)}
</article>
${tableOfContents(content.headings ?? [])}
</main>
</div>
</div>
<p class="sr" role="status" id="announcement"></p>
</body>
</html>
`.html

const brand = () => html`<a class="brand" href="/docs"><img src="${assetUrl('icon.svg')}" alt="" width="22" height="22">Assay docs</a>`

const topBar = ({ page, query }: PageContent) => html`<header class="top">
<details class="menu"><summary>Menu</summary><div class="side open">${navigation(page)}</div></details>
<span class="narrow">${brand()}</span>
<form class="search" role="search" action="/docs/search">
<label class="sr" for="q">Search the documentation</label>
<input id="q" name="q" type="search" value="${query ?? ''}" placeholder="Search the documentation" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div id="found" class="found" hidden></div>
</form>
<span class="grow"></span>
<a class="link reference" href="/docs/${REFERENCE}">API</a>
<a class="link" href="/console">Console</a>
<button id="theme" class="plain" type="button" hidden></button>
</header>`

const navigation = (current: DocsPage | undefined) =>
  html`<nav aria-label="Documentation">${groups.map(
    ({ title, pages }) =>
      html`<h2>${title}</h2><ul>${pages.map((page) => html`<li><a href="${pathOf(page)}"${currentPageAttribute(page, current)}>${page.title}</a></li>`)}</ul>`,
  )}</nav>`

const currentPageAttribute = (page: DocsPage, current: DocsPage | undefined) => page === current && { html: ' aria-current="page"' }

const groupOf = (page: DocsPage) => groups.find(({ pages }) => pages.includes(page))?.title

function footer(page: DocsPage) {
  const { before, after } = neighborsOf(page)
  const neighborLink = (to: DocsPage | undefined, label: string) =>
    to && html`<a class="${label.toLowerCase()}" href="${pathOf(to)}"><small>${label}</small>${to.title}</a>`
  return html`<nav class="neighbors" aria-label="Previous and next page">${neighborLink(before, 'Previous')}${neighborLink(after, 'Next')}</nav>
<p class="raw"><a href="${pathOf(page)}.md">View this page as Markdown</a></p>`
}

/** Lists sections and subsections; a long page lists its sections only. */
function tableOfContents(headings: Heading[]) {
  const deep = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const listed = deep.length > MAX_HEADINGS ? deep.filter(({ depth }) => depth === 2) : deep
  if (listed.length < 2) return null
  return html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${listed.map(
    ({ depth, id, text }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`,
  )}</ul></nav>`
}

const MAX_HEADINGS = 30
