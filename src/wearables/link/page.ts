import type { Source } from '../../contract/tenants/source.ts'
import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type Html, html } from '../../platform/html.ts'
import type { Outcome } from './rules.ts'
import type { Offer } from './sources.ts'

/** The values that all pages of one link share. */
export type Frame = { token: string; team: string; canClose: boolean; canChoose: boolean }

/** The list of sources. `search` filters it for browsers without JavaScript. */
export function sourceListPage(frame: Frame, offers: Offer[], search = '') {
  const found = offers
    .filter(({ slug }) => sources[slug].name.toLowerCase().includes(search.trim().toLowerCase()))
    .sort((a, b) => sources[a.slug].name.localeCompare(sources[b.slug].name, 'en'))
  return page(
    frame,
    'Connect a source',
    html`<h1>Connect a source</h1>
<p class="lead">Choose the service that has your health data. ${frame.team} can read it once you allow it.</p>
${
  offers.length
    ? html`<form method="get" action="/link" role="search">
<input type="hidden" name="token" value="${frame.token}">
<label for="q">Search sources</label>
<div class="row"><input id="q" name="q" type="search" value="${search}" autocomplete="off" placeholder="Search by name"><button class="plain" id="go">Search</button></div>
</form>
<p id="count" role="status" class="quiet">${countLabel(found.length)}</p>
<ul class="sources" id="sources">${found.map((offer) => sourceLink(frame, offer))}</ul>`
    : html`<p role="status">No sources are available yet. ${frame.team} needs to set one up first.</p>`
}`,
  )
}

const countLabel = (count: number) => (count === 1 ? '1 source' : `${count} sources`)

const sourceLink = ({ token }: Frame, { slug, demo }: Offer) => {
  const { name, description } = sources[slug]
  return html`<li><a href="/link/source/${slug}?token=${token}" data-name="${name.toLowerCase()}"><img src="/assets/sources/${slug}.svg" alt="" width="44" height="44"><span><strong>${name}</strong>${demo && demoBadge}<small>${description}</small></span></a></li>`
}

const demoBadge = html` <span class="badge">Demo data</span>`

/** The page that connects one source. */
export function sourcePage(frame: Frame, { slug, demo, regions = {} }: Offer, failure?: string) {
  const source = sources[slug]
  const methods: Partial<Record<Source['auth_type'], Html>> = {
    oauth: html`<p class="lead">You will sign in to ${source.name} and choose what ${frame.team} can read. ${frame.team} does not see your password.</p>
${oauthLinks(frame, slug, Object.entries(regions))}`,
    password: html`<p class="lead">Sign in with your ${source.name} account. Your password is used once and not stored.</p>
${form(frame, `/link/password/${slug}`, [field('username', 'Username or email address', 'username'), field('password', 'Password', 'current-password', 'password')])}`,
    email: html`<p class="lead">Enter the email address of your ${source.name} account.</p>
${form(frame, `/link/email/${slug}`, [field('email', 'Email address', 'email', 'email')])}`,
  }
  return page(
    frame,
    `Connect ${source.name}`,
    html`${heading(slug, `Connect ${source.name}`)}
${alert(failure)}
${demo ? demoForm(frame, slug) : (methods[source.auth_type] ?? html`<p class="lead">${source.name} is connected from its own app on your phone.</p>`)}
${frame.canChoose && html`<p><a href="/link?token=${frame.token}">Choose another source</a></p>`}`,
  )
}

/** One link, or one per region with servers of its own. */
const oauthLinks = ({ token }: Frame, slug: SourceSlug, regions: [string, { name: string }][]) =>
  regions.length
    ? html`<p>Where is your account?</p>${regions.map(([region, { name }]) => html`<p><a class="button" href="/link/oauth/${slug}?token=${token}&amp;region=${region}">${name}</a></p>`)}`
    : html`<p><a class="button" href="/link/oauth/${slug}?token=${token}">Continue to ${sources[slug].name}</a></p>`

const demoForm = (
  frame: Frame,
  slug: SourceSlug,
) => html`<p class="lead">${demoBadge} ${sources[slug].name} is not set up here. You can connect
demo data instead: ${frame.team} will see a month of generated data and none of yours.</p>
${form(frame, `/link/demo/${slug}`, [], 'Connect with demo data')}`

export function codePage(frame: Frame, slug: SourceSlug, hint: string, failure?: string) {
  const { name } = sources[slug]
  return page(
    frame,
    `Code from ${name}`,
    html`${heading(slug, 'Enter your code')}
<p class="lead">${name} sent a code to ${hint}.</p>
${alert(failure)}
${form(frame, `/link/code/${slug}`, [html`<input type="hidden" name="hint" value="${hint}">`, field('mfa_code', 'Code', 'one-time-code')])}`,
  )
}

type EndOptions = {
  slug?: SourceSlug | undefined
  demo?: boolean | undefined
  returnTo?: string | undefined
  redirects?: boolean | undefined
}

/** The last page. With `redirects` it redirects itself, because the form-action policy blocks redirects to other sites after a form. */
export function endPage(frame: Frame | undefined, outcome: Outcome, { slug, demo, returnTo, redirects }: EndOptions = {}) {
  const done = outcome.state === 'success'
  const title = done ? 'You are connected' : 'Connection failed'
  const name = slug ? sources[slug].name : 'The source'
  return page(
    frame,
    title,
    html`<div class="end"><p class="mark ${done ? 'good' : 'bad'}" aria-hidden="true">${done ? '✓' : '!'}</p>
<h1>${title}</h1>
<p class="lead" role="${done ? 'status' : 'alert'}">${done ? `${name} is connected${demo ? ' with demo data' : ''}. You can close this window.` : outcome.error}</p>
${frame && slug && !done && html`<p><a class="button" href="/link/source/${slug}?token=${frame.token}">Try again</a></p>`}
${returnTo && html`<p><a class="${done ? 'button' : ''}" href="${returnTo}">Go back to the app</a></p>`}</div>`,
    { canClose: false, redirectsTo: redirects ? returnTo : undefined },
  )
}

const heading = (slug: SourceSlug, text: string) =>
  html`<p class="logo"><img src="/assets/sources/${slug}.svg" alt="" width="64" height="64"></p><h1>${text}</h1>`

const alert = (failure: string | undefined) => failure && html`<p class="alert" role="alert">${failure}</p>`

const form = ({ token }: Frame, action: string, fields: Html[], label = 'Connect') =>
  html`<form method="post" action="${action}"><input type="hidden" name="token" value="${token}">${fields}<button>${label}</button></form>`

const field = (name: string, label: string, autocomplete: string, type = 'text') =>
  html`<label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" required>`

type PageOptions = { canClose?: boolean | undefined; redirectsTo?: string | undefined }

const page = (frame: Frame | undefined, title: string, content: Html, { canClose = frame?.canClose, redirectsTo }: PageOptions = {}) =>
  `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
${redirectsTo && html`<meta http-equiv="refresh" content="0;url=${redirectsTo}">`}
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/link/assets/link.css"><script src="/link/assets/link.js" defer></script></head>
<body><main>${content}${canClose && frame && html`<p class="quiet"><a href="/link/close?token=${frame.token}">Cancel</a></p>`}</main></body></html>`
      .html
  }`
