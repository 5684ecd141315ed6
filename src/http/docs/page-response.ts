import { type Html, html } from '../../platform/html.ts'
import { type Entry, excerpt, find, type Index } from './assets/find.js'
import type { PageContent } from './layout.ts'
import { groups, pathOf } from './pages.ts'

export const indexResponse: PageContent = {
  title: 'Documentation',
  about: 'How to use, integrate and operate Assay.',
  body: html`<h1>Assay documentation</h1>
<p class="lead">Register end users, order lab tests, track each order to its results, receive wearable data, and get every change as a signed webhook.
New here? Start with the <a href="/docs/quick-start">quick start</a>.</p>
${index()}`,
}

export const MAX_SEARCH_LENGTH = 200
const MAX_HITS = 50

export function searchResponse(index: Index, text: string): PageContent {
  const query = text.trim().slice(0, MAX_SEARCH_LENGTH)
  const found = find(index, query, MAX_HITS)
  const count = found.length === 1 ? '1 result' : `${found.length} results`
  return {
    title: 'Search',
    about: 'Search results in the documentation.',
    query,
    body: html`<h1>Search</h1>
${query ? html`<p class="lead">${count} for “${query}”.</p>` : html`<p class="lead">Search for an error code, an event type, a setting or a keyword.</p>`}
<ol class="hits">${found.map((entry) => renderHit(entry, query))}</ol>`,
  }
}

export const missingResponse: PageContent = {
  title: 'Page not found',
  about: 'This page does not exist.',
  body: html`<h1>Page not found</h1>
<p class="lead">Check the URL, search above, or choose a page below.</p>
${index()}`,
}

function index(): Html {
  return html`<div class="index">${groups.map(
    ({ title, pages }) =>
      html`<section><h2>${title}</h2><ul>${pages.map(
        (page) => html`<li><a href="${pathOf(page)}">${page.title}</a><span>${page.about}</span></li>`,
      )}</ul></section>`,
  )}</div>`
}

const renderHit = ({ page, title, path, text }: Entry, query: string) =>
  html`<li><a href="${path}">${title}</a> <small>${title !== page && page}</small><p>${excerpt(text, query).map(({ text, hit }) => (hit ? html`<mark>${text}</mark>` : text))}</p></li>`
