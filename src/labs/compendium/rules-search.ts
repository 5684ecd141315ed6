/** Text in lower case without accents and punctuation. */
export const normalizeText = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()

/** Three letters in a row, with the spaces around words, as in PostgreSQL's pg_trgm. */
export function trigramsOf(text: string): Set<string> {
  const found = new Set<string>()
  for (const word of normalizeText(text).split(' '))
    for (let i = 0, padded = `  ${word} `; i + 3 <= padded.length; i++) found.add(padded.slice(i, i + 3))
  return found
}

type Entry = { names: string[]; codes: string[] }

/** An index of entries by trigram, so that a search reads only entries that share one with the query. */
export type SearchIndex<E extends Entry> = {
  entries: E[]
  byTrigram: Map<string, number[]>
  sizes: number[][]
  byCode: Map<string, number[]>
}

export function indexEntries<E extends Entry>(entries: E[]): SearchIndex<E> {
  const byTrigram = new Map<string, number[]>()
  const byCode = new Map<string, number[]>()
  const sizes = entries.map(({ names }) => names.map((name) => trigramsOf(name).size))
  for (const [i, { names, codes }] of entries.entries()) {
    for (const trigram of new Set(names.flatMap((name) => [...trigramsOf(name)]))) push(byTrigram, trigram, i)
    for (const code of codes) push(byCode, code.toLowerCase(), i)
  }
  return { entries, byTrigram, byCode, sizes }
}

const push = (index: Map<string, number[]>, key: string, i: number) => {
  const known = index.get(key)
  if (known) known.push(i)
  else index.set(key, [i])
}

const MIN_SIMILARITY = 0.3

/** A code counts as certain, a name by its beginning, and otherwise by the trigrams that it shares with the query. */
export function searchEntries<E extends Entry>(index: SearchIndex<E>, query: string, limit: number): { entry: E; confidence: number }[] {
  const byCode = (index.byCode.get(query.trim().toLowerCase()) ?? []).map((i) => ({ i, confidence: 1 }))
  const ranked = byCode.length ? byCode : searchNames(index, query)
  return ranked
    .map(({ i, confidence }) => ({ entry: index.entries[i] as E, confidence }))
    .sort((a, b) => b.confidence - a.confidence || (a.entry.names[0] ?? '').localeCompare(b.entry.names[0] ?? ''))
    .slice(0, limit)
}

function searchNames<E extends Entry>({ entries, byTrigram }: SearchIndex<E>, query: string) {
  const wanted = trigramsOf(query)
  const shared = new Map<number, number>()
  for (const trigram of wanted) for (const i of byTrigram.get(trigram) ?? []) shared.set(i, (shared.get(i) ?? 0) + 1)
  // An entry that shares fewer trigrams than this cannot be similar enough, also if all are in one of its names.
  const enough = Math.max(1, Math.floor(wanted.size * MIN_SIMILARITY))
  return [...shared].flatMap(([i, count]) => {
    if (count < enough) return []
    const confidence = Math.max(...(entries[i] as E).names.map((name) => similarity(query, name, wanted)))
    return confidence >= MIN_SIMILARITY ? [{ i, confidence }] : []
  })
}

/** 1 for the same text, 0.9 and more for a beginning, 0.8 for the beginning of a word, else the share of common trigrams. */
export function similarity(query: string, name: string, wanted = trigramsOf(query)): number {
  const [sought, text] = [normalizeText(query), normalizeText(name)]
  if (sought === text) return 1
  if (sought && text.startsWith(sought)) return round(0.9 + (0.1 * sought.length) / text.length)
  if (sought && ` ${text}`.includes(` ${sought}`)) return 0.8
  const found = trigramsOf(name)
  const common = [...wanted].filter((trigram) => found.has(trigram)).length
  return round((0.8 * common) / (wanted.size + found.size - common || 1))
}

export const round = (value: number) => Math.round(value * 1000) / 1000
