import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountDocs } from '../../src/http/docs/routes.ts'

const server = Fastify()
mountDocs(server)
const ask = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })

test('serves the index with every group, with and without a trailing slash', async () => {
  const { statusCode, headers, body } = await ask('/docs')
  expect(statusCode).toBe(200)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  for (const path of ['/docs/quick-start', '/docs/concepts', '/docs/guides/moving', '/docs/reference', '/docs/security'])
    expect(body).toContain(`href="${path}"`)
  expect((await ask('/docs/')).body).toBe(body)
})

test('serves a page with its title, its text, its navigation entry and its neighbors', async () => {
  const { body } = await ask('/docs/errors')
  expect(body).toContain('<title>Errors · Assay documentation</title>')
  expect(body).toContain('<tr id="row-IDEMPOTENCY_KEY_REUSED">')
  expect(body).toContain('<a href="/docs/errors" aria-current="page">Errors</a>')
  expect(body).toContain(
    '<a class="previous" href="/docs/events"><small>Previous</small>Events</a><a class="next" href="/docs/order-checks">',
  )
})

test('allows no inline script and loads nothing from other hosts', async () => {
  const { headers, body } = await ask('/docs/orders')
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(headers['content-security-policy']).not.toContain('unsafe')
  expect(body).not.toMatch(/<script(?![^>]* src="\/docs\/)|<style|\sstyle=|\son\w+=/)
  expect([...body.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g)].filter(([, to]) => !to?.startsWith('/docs/'))).toEqual([])
})

test('serves the Markdown source', async () => {
  const { headers, body } = await ask('/docs/upgrading.md')
  expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
  expect(body).toMatch(/^# Upgrading\n/)
})

test('returns 304 for a known ETag', async () => {
  const first = await ask('/docs/security')
  const etag = first.headers.etag as string
  expect(first.headers['cache-control']).toBe('no-cache')
  expect(await ask('/docs/security', { 'if-none-match': etag })).toMatchObject({ statusCode: 304, body: '' })
  expect(await ask('/docs/security', { 'if-none-match': `"other", ${etag}` })).toMatchObject({ statusCode: 304 })
  expect(await ask('/docs/security', { 'if-none-match': '"other"' })).toMatchObject({ statusCode: 200 })
})

test('caches assets of the current version forever, and no others', async () => {
  const { body } = await ask('/docs')
  const sheet = /href="(\/docs\/assets\/docs\.css\?v=[^"]+)"/.exec(body)?.[1] as string
  expect((await ask(sheet)).headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await ask('/docs/assets/docs.css?v=old')).headers['cache-control']).toBe('no-cache')
})

test("the style sheet uses the console's colors", async () => {
  const { body } = await ask('/docs/assets/docs.css')
  expect(body).toContain('--accent: light-dark(')
  expect(body).toContain('.lc-box')
})

const nowhere = [
  'nothing',
  'orders/',
  'orders.html',
  'nothing.md',
  'guides',
  '..%2fpackage.json',
  '..%2fREADME.md',
  'screenshots/orders-390.png',
]

test.each([...nowhere, 'assets/none.js', 'assets/find.d.ts', 'diagrams/none.svg', 'diagrams/..%2f..%2fpackage.json'])(
  'returns 404 with a search form for %s',
  async (path) => {
    const { statusCode, body } = await ask(`/docs/${path}`)
    expect(statusCode).toBe(404)
    expect(body).toContain('<h1>Page not found</h1>')
    expect(body).toContain('<form class="search" role="search" action="/docs/search">')
  },
)

test('serves a diagram and allows its inline style', async () => {
  const { headers, body } = await ask('/docs/diagrams/testkit.svg')
  expect(headers['content-type']).toBe('image/svg+xml')
  expect(headers['content-security-policy']).toBe("default-src 'none'; style-src 'unsafe-inline'")
  expect(body).toContain('<title>Lifecycle of testkit orders</title>')
})

test('searches on the server without JavaScript and escapes the query', async () => {
  const { body } = await ask('/docs/search?q=IDEMPOTENCY_KEY_REUSED')
  expect(body).toMatch(/<ol class="hits"><li><a href="\/docs\/errors#row-IDEMPOTENCY_KEY_REUSED">/)
  expect((await ask('/docs/search?q=%3Cscript%3E')).body).not.toContain('<script>')
  expect((await ask('/docs/search')).statusCode).toBe(200)
  expect((await ask('/docs/search?q=a&q=b')).statusCode).toBe(200)
})

test('uses at most twelve words of a search', async () => {
  const { body } = await ask(`/docs/search?q=${Array(12).fill('webhook').join('+')}+xyzzy`)
  expect(body).toContain('<a href="/docs/webhooks">')
  expect((await ask(`/docs/search?q=${Array(11).fill('webhook').join('+')}+xyzzy`)).body).toContain('0 results')
})

test('does not send an encoding with quality 0', async () => {
  const encoding = async (takes: string) => (await ask('/docs/security', { 'accept-encoding': takes })).headers['content-encoding']
  expect(await encoding('gzip, br;q=0.5')).toBe('br')
  expect(await encoding('br;q=0, gzip')).toBe('gzip')
  expect(await encoding('gzip;q=0.0,BR; q=0')).toBeUndefined()
  expect(await encoding('identity')).toBeUndefined()
})

test('the search index links only to existing sections', async () => {
  const { body } = await ask('/docs/search.json')
  const entries = JSON.parse(body) as { title: string; path: string; text: string }[]
  console.log(`The search has ${entries.length} entries in ${Math.round(body.length / 1024)} KiB.`)
  expect(entries.find(({ title }) => title === 'labtest.order.updated')?.path).toMatch(/^\/docs\/events#/)
  const paths = [...new Set(entries.map(({ path }) => path.split('#')[0] as string))].filter((path) => path !== '/docs/reference')
  for (const path of paths) {
    const page = await ask(path)
    expect(page.statusCode, path).toBe(200)
    const missing = entries.filter((entry) => entry.path.startsWith(`${path}#`) && !page.body.includes(`id="${entry.path.split('#')[1]}"`))
    expect(missing).toEqual([])
  }
})
