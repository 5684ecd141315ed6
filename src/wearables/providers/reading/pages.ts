import { cloudError } from '../cloud.ts'

/** A source that never ends its pages would otherwise occupy a worker forever. */
const MAX_PAGES = 500

/** The pages of a list. `nextOf` says where the next page begins, if there is one. */
export async function* followPages<Page>(
  load: (next: string | undefined) => Promise<Page>,
  nextOf: (page: Page) => string | null | undefined,
): AsyncGenerator<Page> {
  const seen = new Set<string>()
  for (let next: string | undefined; ; ) {
    const page = await load(next)
    yield page
    next = nextOf(page) || undefined
    if (!next) return
    if (seen.has(next) || seen.size >= MAX_PAGES) throw cloudError('malformed', 'endless pages')
    seen.add(next)
  }
}

export async function allItems<Item>(pages: AsyncIterable<Item[]>) {
  const items: Item[] = []
  for await (const page of pages) items.push(...page)
  return items
}
