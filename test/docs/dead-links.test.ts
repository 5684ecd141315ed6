import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Token, type Tokens, walkTokens } from 'marked'
import { describe, expect, test } from 'vitest'
import { siteUrl } from '../../src/http/docs/links.ts'
import { tokensOf } from '../../src/http/docs/markdown.ts'
import { outlineOf } from '../../src/http/docs/outline.ts'
import { pageAt } from '../../src/http/docs/pages.ts'
import { root } from '../support/process.ts'

const files = [...globSync('docs/**/*.md', { cwd: root }), ...globSync('*.md', { cwd: root })].sort()

/** Paths that the service serves besides its documentation pages. */
const served = ['/openapi.json', '/asyncapi.json', '/console', '/docs', '/docs/reference']

function linksOf(tokens: Token[]) {
  const found: string[] = []
  walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') found.push((token as Tokens.Link | Tokens.Image).href)
  })
  return found.filter((href) => !/^[a-z]+:/i.test(href))
}

const tokensIn = (file: string) => tokensOf(readFileSync(join(root, file), 'utf8'))

const anchorsIn = (file: string) => [...outlineOf(tokensIn(file)).values()].map(({ id }) => id)

/** The file that a link targets in a checkout. */
function targetOf(file: string, path: string) {
  if (!path) return file
  const slug = /^\/docs\/(.+)$/.exec(path)?.[1]
  return slug ? `docs/${slug}.md` : relative(root, join(root, dirname(file), path))
}

function isDead(file: string, href: string) {
  const [path = '', anchor] = href.split('#')
  if (served.includes(path)) return false
  const target = targetOf(file, path)
  if (!existsSync(join(root, target))) return true
  return anchor !== undefined && !anchorsIn(target).includes(anchor)
}

describe.each(files)('%s', (file) => {
  const links = linksOf(tokensIn(file))

  test('has no dead link', () => {
    expect(links.filter((href) => isDead(file, href))).toEqual([])
  })

  if (!file.startsWith('docs/') || file.startsWith('docs/contributing/')) return
  test('links to the same page on the site and in a checkout', () => {
    const slug = file.slice('docs/'.length, -'.md'.length)
    const toPages = links.filter((href) => /\.md(#|$)/.test(href) && !/^(\.\.\/)+[A-Z]+\.md/.test(href))
    const lost = toPages.filter((href) => !pageAt(siteUrl(slug, href)?.replace(/^\/docs\/|#.*$/g, '') ?? ''))
    expect(lost).toEqual([])
  })
})

test('resolves relative links and anchors', () => {
  expect(siteUrl('guides/production', '../operating.md#backup-and-restore')).toBe('/docs/operating#backup-and-restore')
  expect(siteUrl('guides/production', 'moving.md')).toBe('/docs/guides/moving')
  expect(siteUrl('orders', '#kits')).toBe('#kits')
  expect(siteUrl('orders', 'https://example.org/a.md')).toBe('https://example.org/a.md')
})

test('does not link files that the site does not serve', () => {
  expect(siteUrl('security', '../SECURITY.md')).toBeUndefined()
})
