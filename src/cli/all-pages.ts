/** Reads a list to its end. */
export async function fetchAllPages<P extends { next_cursor: string | null }>(
  list: (query: { next_cursor?: string | undefined }) => Promise<P>,
) {
  const pages = [await list({})]
  for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor) pages.push(await list({ next_cursor: next }))
  return pages
}
