import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Entry, type Index, prepare } from './assets/find.js'
import { entriesOf } from './entries.ts'
import { tokensOf } from './markdown.ts'
import { pages } from './pages.ts'
import { markdownOf, searchPage } from './site.ts'

/** Searches the documentation. It builds the index on first use, page by page, and runs one search per turn, so other requests go on. */
export function newDocsSearch() {
  let built: Promise<{ entries: Entry[]; index: Index }> | undefined
  let last: Promise<unknown> = Promise.resolve()
  const build = async () => {
    const entries: Entry[] = []
    for (const page of pages) {
      entries.push(...entriesOf(page, tokensOf(markdownOf(page.slug) ?? '')))
      await nextTurn()
    }
    return { entries, index: prepare(entries) }
  }
  const load = () => {
    built ??= build()
    return built
  }
  return {
    entries: async () => (await load()).entries,
    page: async (query: string) => {
      const { index } = await load()
      const turn = last.then(() => nextTurn())
      last = turn
      await turn
      return searchPage(index, query)
    },
  }
}
