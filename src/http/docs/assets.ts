import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Something to be sent. */
export type Found = { type: string; text: string }

const project = fileURLToPath(new URL('../../../', import.meta.url))

/** A file of the project, or undefined. */
export const fileAt = (path: string) => (existsSync(project + path) ? readFileSync(project + path, 'utf8') : undefined)

const script = (name: string) => ({ type: 'text/javascript; charset=utf-8', of: [`src/http/docs/assets/${name}`] })

/** The look is the console's: its colours, fonts and frame are taken from where it has them. */
const assets: Record<string, { type: string; of: string[] }> = {
  'docs.css': {
    type: 'text/css; charset=utf-8',
    of: [
      ...['tokens', 'base', 'frame'].map((name) => `console/src/style/${name}.css`),
      ...['frame', 'search', 'article', 'code', 'tables', 'diagram', 'around', 'lists', 'screens'].map(
        (name) => `src/http/docs/assets/${name}.css`,
      ),
    ],
  },
  ...Object.fromEntries(['docs.js', 'find.js', 'page.js', 'search.js', 'theme.js'].map((name) => [name, script(name)])),
  'icon.svg': { type: 'image/svg+xml', of: ['console/src/icon.svg'] },
}

export function assetAt(name: string): Found | undefined {
  const asset = assets[name]
  return asset && { type: asset.type, text: asset.of.map((path) => fileAt(path) ?? '').join('\n') }
}

const addresses = new Map<string, string>()

/** The address of an asset carries the version of its content, so that a browser may keep it for good. */
export function addressOf(name: string) {
  const address = addresses.get(name) ?? `/docs/assets/${name}?v=${versionOf(assetAt(name)?.text ?? '')}`
  addresses.set(name, address)
  return address
}

export const versionOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)
