// Loads TypeScript from which scripts/strip-types.ts has already removed the types. Otherwise each process of the service would
// load the compiler of Node, which takes 15 MB, or the compile cache, which takes 10 MB. Plain JavaScript for the same reason.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const folder = new URL('../node_modules/.cache/stripped/', import.meta.url)

/** The file without types. Its name depends on the content, so an edited file is never mistaken for its earlier version. */
export const strippedFile = (source) => new URL(`${createHash('sha256').update(source).digest('hex').slice(0, 32)}.js`, folder)

function readStripped(url) {
  try {
    return readFileSync(strippedFile(readFileSync(new URL(url))))
  } catch {
    return undefined
  }
}

/** A module of this project, by its path from another one. Node would look for links and packages, which takes a third of a start. */
const isOurs = (specifier, parent) => /^\.\.?\/.*\.ts$/.test(specifier) && parent?.startsWith('file:') && /\.(ts|mjs)$/.test(parent)

/** A module beside another one of its package, which Node would look up the same way. The packages have a thousand of them. */
const isBeside = (specifier, { parentURL, conditions }) =>
  /^\.\.?\/.*\.js$/.test(specifier) && conditions.includes('import') && parentURL?.includes('/node_modules/')

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    isOurs(specifier, context.parentURL) || isBeside(specifier, context)
      ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
      : nextResolve(specifier, context),
  load(url, context, nextLoad) {
    const source = url.startsWith('file:') && url.endsWith('.ts') ? readStripped(url) : undefined
    return source ? { format: 'module', source, shortCircuit: true } : nextLoad(url, context)
  },
})
