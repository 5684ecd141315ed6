import { expect, test } from 'vitest'
import { excerpt, find, prepare } from '../../src/http/docs/assets/find.js'
import { entriesOf } from '../../src/http/docs/entries.ts'
import { highlight } from '../../src/http/docs/highlight.ts'
import { htmlOf, tokensOf } from '../../src/http/docs/markdown.ts'
import { outlineOf } from '../../src/http/docs/outline.ts'
import type { DocsPage } from '../../src/http/docs/pages.ts'

const render = (markdown: string) =>
  htmlOf('orders', tokensOf(markdown), (name) => (name === 'kit' ? '<svg class="lc"><style>b{}</style></svg>' : undefined)).html

test('headings have the same anchors as on GitHub', () => {
  const outline = outlineOf(tokensOf('# A\n## `labtest.order.created`\n## The lab’s side\n## Is it healthy?\n## A\n'))
  expect([...outline.values()].map(({ id }) => id)).toEqual(['a', 'labtestordercreated', 'the-labs-side', 'is-it-healthy', 'a-1'])
})

test('a section has a link to itself', () => {
  expect(render('## Kits & more')).toContain(
    '<h2 id="kits--more">Kits &amp; more</h2><a class="anchor" href="#kits--more" aria-label="Link to Kits &amp; more">#</a>',
  )
})

test('a link named after a file gets the title of the page', () => {
  expect(render('[config.md](config.md), [the settings](config.md#settings)')).toContain(
    '<a href="/docs/config">Settings</a>, <a href="/docs/config#settings">the settings</a>',
  )
})

test('HTML is shown as text and generator markers are hidden', () => {
  expect(render('a <b onclick="x()">b</b>')).toContain('a &lt;b onclick=&quot;x()&quot;&gt;b&lt;/b&gt;')
  expect(render('<!-- lifecycle -->\n\n<script>alert(1)</script>')).not.toMatch(/<script|lifecycle/)
})

test('escapes scripts in links and code', () => {
  expect(render('[a](javascript:alert(1))')).not.toContain('href')
  expect(render('```html\n<script>\n```')).toContain('&lt;script&gt;')
  expect(render('```json\n{"a": "<i>"}\n```')).toContain('<span class="hl-text">&quot;&lt;i&gt;&quot;</span>')
})

test('a sample shows its file name, and a response has its own style', () => {
  expect(render('```py file=receiver.py\nimport hmac\n```')).toContain('<div class="code"><p class="file">receiver.py</p><pre')
  expect(render('```json status=400\n{}\n```')).toContain('<div class="code output">')
  expect(render('```sh not-run="stays"\nls\n```')).toContain('<div class="code"><pre')
})

test('a table scrolls in a focusable box', () => {
  expect(render('## Types\n\n| a |\n|---|\n| b |\n')).toContain(
    '<div class="table" role="group" aria-label="Table: Types" tabindex="0"><table>',
  )
})

test('a row with a unique code has an anchor', () => {
  const table = (rows: string) => render(`| Type | Meaning |\n|---|---|\n${rows}`)
  expect(table('| `USER_NOT_FOUND` | gone |')).toContain('<tr id="row-USER_NOT_FOUND">')
  expect(table('| `--json` | one |\n| `--json` | two |')).not.toContain('<tr id')
  expect(table('| plain | words |')).not.toContain('<tr id')
})

test('a diagram is inlined without its style sheet', () => {
  const html = render('![Steps of a kit](diagrams/kit.svg)')
  expect(html).toContain('<svg role="img" aria-label="Steps of a kit" class="lc"></svg>')
  expect(render('![Nothing](diagrams/none.svg)')).toContain('<em>Nothing</em>')
})

test.each([
  ['sh', 'curl "$A" # asks', ['"$A"', '# asks']],
  ['sh', 'echo a#b', []],
  ['json', '{"a": -1.5, "b": null}', ['"a"', '-1.5', '"b"', 'null']],
  ['ts', "const a = `x` // 'no'", ['const', '`x`', "// 'no'"]],
  ['go', 'a := 1 /* if */', ['1', '/* if */']],
  ['python', 'def f(): return "#"', ['def', 'return', '"#"']],
  ['text', 'const a = 1', []],
])('highlights %s: %s', (language, code, highlighted) => {
  const { html } = highlight(code, language)
  const found = [...html.matchAll(/<span class="hl-\w+">(.*?)<\/span>/g)].map(([, text]) => unescapeHtml(text as string))
  expect(found).toEqual(highlighted)
  expect(unescapeHtml(html.replace(/<\/?span[^>]*>/g, ''))).toBe(code)
})

const unescapeHtml = (text: string) =>
  text.replace(/&(quot|#39|lt|gt|amp);/g, (_, name) => ({ quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' })[name as 'lt'])

const page: DocsPage = { slug: 'errors', title: 'Errors', about: 'Every error.' }
const entries = entriesOf(
  page,
  tokensOf(
    '# Errors\n\nAll are JSON.\n\n## Types\n\n| Type | Status |\n|---|---|\n| `KEY_REUSED` | 409 |\n| `KEY_ENDED` | 401 |\n\n## Repeat a key\n\nSend it again.\n',
  ),
)

test('the search index contains sections and named rows', () => {
  expect(entries.map(({ title, path }) => [title, path])).toEqual([
    ['Errors', '/docs/errors'],
    ['Types', '/docs/errors#types'],
    ['KEY_REUSED', '/docs/errors#row-KEY_REUSED'],
    ['KEY_ENDED', '/docs/errors#row-KEY_ENDED'],
    ['Repeat a key', '/docs/errors#repeat-a-key'],
  ])
  expect(entries[0]?.text).toBe('Every error. All are JSON.')
})

test.each([
  ['key_reused', ['KEY_REUSED']],
  ['key', ['KEY_REUSED', 'KEY_ENDED', 'Repeat a key']],
  ['again', ['Repeat a key']],
  ['key 401', ['KEY_ENDED']],
  ['json errors', ['Errors']],
  ['key nowhere', []],
  ['  ', []],
])('“%s” finds %j', (query, titles) => {
  expect(find(prepare(entries), query).map(({ title }) => title)).toEqual(titles)
})

test('an excerpt shows the match in context', () => {
  const text = `${'before '.repeat(30)}the Needle (sharp) ${'after '.repeat(40)}`
  const pieces = excerpt(text, 'needle (sharp')
  expect(pieces.filter(({ hit }) => hit).map((piece) => piece.text)).toEqual(['Needle', '(sharp'])
  expect(pieces[0]?.text).toMatch(/^….*the $/)
  expect(pieces.at(-1)?.text).toMatch(/…$/)
})
