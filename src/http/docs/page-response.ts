import { type Html, html } from '../../platform/html.ts'
import { type Entry, excerpt, find } from './assets/find.js'
import type { PageContent } from './layout.ts'
import { groups, pathOf } from './pages.ts'

/** What the site shows besides its written pages: the index, what a search found, and that there is no such page. */

export const indexResponse: PageContent = {
  title: 'Documentation',
  about: 'How to use, integrate and operate Assay.',
  body: html`<h1>Assay documentation</h1>
<p class="lead">Assay registers end users, takes lab-test orders for them, follows each to its results, receives wearable data, and tells you by signed webhooks.
New here? Begin with the <a href="/docs/quick-start">quick start</a>.</p>
${index()}`,
}

export function searchResponse(entries: Entry[], query: string): PageContent {
  const found = find(entries, query, 50)
  const count = found.length === 1 ? '1 place' : `${found.length} places`
  return {
    title: 'Search',
    about: 'What the documentation has about it.',
    query,
    body: html`<h1>Search</h1>
${query.trim() ? html`<p class="lead">${count} with “${query.trim()}”.</p>` : html`<p class="lead">Type an error code, an event type, a setting, a word.</p>`}
<ol class="hits">${found.map((entry) => hit(entry, query))}</ol>`,
  }
}

export const missingResponse: PageContent = {
  title: 'No such page',
  about: 'There is no page at this address.',
  body: html`<h1>There is no such page</h1>
<p class="lead">The address may be misspelt, or the page was moved. Search above, or choose from all pages.</p>
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

const hit = ({ page, title, path, text }: Entry, query: string) =>
  html`<li><a href="${path}">${title}</a> <small>${title !== page && page}</small><p>${excerpt(text, query).map(({ text, hit }) => (hit ? html`<mark>${text}</mark>` : text))}</p></li>`
