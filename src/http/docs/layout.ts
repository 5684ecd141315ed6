import { type Html, html } from '../../platform/html.ts'
import { addressOf } from './assets.ts'
import type { Heading } from './outline.ts'
import { besides, type DocsPage, groups, pathOf, REFERENCE } from './pages.ts'

/** What is shown: one page of the table, or one that the site makes itself (`page` is then absent). */
export type PageContent = { title: string; about: string; body: Html; page?: DocsPage; headings?: Heading[]; query?: string }

/** The whole document around what is shown. */
export const layout = (shown: PageContent) =>
  html`<!doctype html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${shown.about}">
<title>${shown.title} · Assay documentation</title>
<link rel="icon" href="${addressOf('icon.svg')}">
<link rel="stylesheet" href="${addressOf('docs.css')}">
<script src="${addressOf('theme.js')}"></script>
<script type="module" src="${addressOf('docs.js')}"></script>
</head>
<body class="docs">
<a class="skip" href="#content">Skip to content</a>
<div class="frame">
<aside class="side">${brand()}${navigation(shown.page)}</aside>
<div>
${top(shown)}
<main id="content" tabindex="-1">
<article>
${shown.page && html`<p class="place">${groupOf(shown.page)}</p>`}
${shown.body}
${shown.page && foot(shown.page)}
</article>
${contents(shown.headings ?? [])}
</main>
</div>
</div>
<p class="sr" role="status" id="said"></p>
</body>
</html>
`.html

const brand = () => html`<a class="brand" href="/docs"><img src="${addressOf('icon.svg')}" alt="" width="22" height="22">Assay docs</a>`

const top = ({ page, query }: PageContent) => html`<header class="top">
<details class="menu"><summary>Menu</summary><div class="side open">${navigation(page)}</div></details>
<span class="narrow">${brand()}</span>
<form class="search" role="search" action="/docs/search">
<label class="sr" for="q">Search the documentation</label>
<input id="q" name="q" type="search" value="${query ?? ''}" placeholder="Search the documentation" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div id="found" class="found" hidden></div>
</form>
<span class="grow"></span>
<a class="away reference" href="/docs/${REFERENCE}">API</a>
<a class="away" href="/console">Console</a>
<button id="theme" class="plain" type="button" hidden></button>
</header>`

const navigation = (shown: DocsPage | undefined) =>
  html`<nav aria-label="Documentation">${groups.map(
    ({ title, pages }) =>
      html`<h2>${title}</h2><ul>${pages.map((page) => html`<li><a href="${pathOf(page)}"${here(page, shown)}>${page.title}</a></li>`)}</ul>`,
  )}</nav>`

const here = (page: DocsPage, shown: DocsPage | undefined) => page === shown && { html: ' aria-current="page"' }

const groupOf = (page: DocsPage) => groups.find(({ pages }) => pages.includes(page))?.title

function foot(page: DocsPage) {
  const { before, after } = besides(page)
  const step = (to: DocsPage | undefined, way: string) =>
    to && html`<a class="${way.toLowerCase()}" href="${pathOf(to)}"><small>${way}</small>${to.title}</a>`
  return html`<nav class="besides" aria-label="Previous and next">${step(before, 'Previous')}${step(after, 'Next')}</nav>
<p class="raw"><a href="${pathOf(page)}.md">This page as Markdown</a></p>`
}

/** Sections and what is under them; a long page lists its sections only. */
function contents(headings: Heading[]) {
  const deep = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const listed = deep.length > LONG ? deep.filter(({ depth }) => depth === 2) : deep
  if (listed.length < 2) return null
  return html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${listed.map(
    ({ depth, id, text }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`,
  )}</ul></nav>`
}

const LONG = 30
