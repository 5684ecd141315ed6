import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { blocksOf } from './blocks.ts'

const packages = createRequire(import.meta.url)

/** The block of a page that exports the name, as a module. Packages that it imports are found from here. */
export function moduleOf(page: string, name: string) {
  const block = blocksOf(page).find(({ language, text }) => language === 'js' && new RegExp(`export .*\\b${name}\\b`).test(text))
  if (!block) throw new Error(`${page} exports no ${name}`)
  const code = block.text.replace(/from '([a-z]+)'/g, (_, name) => `from '${pathToFileURL(packages.resolve(name))}'`)
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}
