import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type SiteFile = { type: string; text: string }

const project = fileURLToPath(new URL('../../../', import.meta.url))

export const readProjectFile = (path: string) => (existsSync(project + path) ? readFileSync(project + path, 'utf8') : undefined)

const script = (name: string) => ({ type: 'text/javascript; charset=utf-8', of: [`src/http/docs/assets/${name}`] })

/** The documentation shares the console's style sheets, so both have the same colors, fonts and frame. */
const assets: Record<string, { type: string; of: string[] }> = {
  'docs.css': {
    type: 'text/css; charset=utf-8',
    of: [
      ...['tokens', 'base', 'frame'].map((name) => `console/src/style/${name}.css`),
      ...['frame', 'search', 'article', 'code', 'tables', 'diagram', 'page-links', 'lists', 'screens'].map(
        (name) => `src/http/docs/assets/${name}.css`,
      ),
    ],
  },
  ...Object.fromEntries(['docs.js', 'find.js', 'page.js', 'search.js', 'theme.js'].map((name) => [name, script(name)])),
  'icon.svg': { type: 'image/svg+xml', of: ['console/src/icon.svg'] },
}

export function assetAt(name: string): SiteFile | undefined {
  const asset = assets[name]
  return asset && { type: asset.type, text: asset.of.map((path) => readProjectFile(path) ?? '').join('\n') }
}

export const versionOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)

const urls = Object.fromEntries(Object.keys(assets).map((name) => [name, `/docs/assets/${name}?v=${versionOf(assetAt(name)?.text ?? '')}`]))

/** The URL carries a hash of the content, so browsers may cache the asset forever. */
export const assetUrl = (name: string) => urls[name]
