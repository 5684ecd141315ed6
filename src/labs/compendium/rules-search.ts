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

/** A name of an entry, with what a search compares. */
type Name = { entry: number; text: string; trigrams: number }

/** An index of names by trigram, so that a search reads only names that share one with the query. */
export type SearchIndex<E extends Entry> = {
  entries: E[]
  /** The positions of the entries in the order of their first names, which breaks ties. */
  ranks: number[]
  names: Name[]
  byTrigram: Map<string, number[]>
  byCode: Map<string, number[]>
}

export function indexEntries<E extends Entry>(entries: E[]): SearchIndex<E> {
  const names: Name[] = []
  const byTrigram = new Map<string, number[]>()
  const byCode = new Map<string, number[]>()
  for (const [entry, one] of entries.entries()) {
    for (const name of one.names) {
      const trigrams = trigramsOf(name)
      for (const trigram of trigrams) push(byTrigram, trigram, names.length)
      names.push({ entry, text: normalizeText(name), trigrams: trigrams.size })
    }
    for (const code of one.codes) push(byCode, code.toLowerCase(), entry)
  }
  return { entries, ranks: ranksOf(entries), names, byTrigram, byCode }
}

/** Adds a value to the list of a key. */
export function push<V>(index: Map<string, V[]>, key: string, value: V) {
  const known = index.get(key)
  if (known) known.push(value)
  else index.set(key, [value])
}

function ranksOf(entries: Entry[]) {
  const { compare } = new Intl.Collator('en')
  const sorted = entries.map(({ names }, i) => ({ i, name: names[0] ?? '' })).sort((a, b) => compare(a.name, b.name))
  const ranks: number[] = Array(entries.length)
  for (const [rank, { i }] of sorted.entries()) ranks[i] = rank
  return ranks
}

const MIN_SIMILARITY = 0.3

/** A code counts as certain, a name by its beginning, and otherwise by the trigrams that it shares with the query. */
export function searchEntries<E extends Entry>(index: SearchIndex<E>, query: string, limit: number): { entry: E; confidence: number }[] {
  const byCode = index.byCode.get(query.trim().toLowerCase())
  const found = byCode ? byCode.map((i): [number, number] => [i, 1]) : [...searchNames(index, query)]
  const rankOf = (i: number) => index.ranks[i] as number
  return found
    .sort((a, b) => b[1] - a[1] || rankOf(a[0]) - rankOf(b[0]))
    .slice(0, limit)
    .map(([i, confidence]) => ({ entry: index.entries[i] as E, confidence }))
}

/** The entries with a similar name, and the best similarity of each. */
function searchNames<E extends Entry>({ names, byTrigram }: SearchIndex<E>, query: string) {
  const sought = normalizeText(query)
  const wanted = trigramsOf(query)
  const common = new Uint16Array(names.length)
  const found = new Map<number, number>()
  for (const trigram of wanted) for (const n of byTrigram.get(trigram) ?? []) common[n] = (common[n] as number) + 1
  // A name that shares fewer trigrams than this cannot be similar enough.
  const enough = Math.max(1, Math.floor(wanted.size * MIN_SIMILARITY))
  for (const [n, { entry, text, trigrams }] of names.entries()) {
    if ((common[n] as number) < enough) continue
    const confidence = compareTexts(sought, text, (common[n] as number) / (wanted.size + trigrams - (common[n] as number)))
    if (confidence >= MIN_SIMILARITY && confidence > (found.get(entry) ?? 0)) found.set(entry, confidence)
  }
  return found
}

/** How similar a name is to a query, from 0 to 1. */
export function similarity(query: string, name: string): number {
  const [wanted, found] = [trigramsOf(query), trigramsOf(name)]
  const common = [...wanted].filter((trigram) => found.has(trigram)).length
  return compareTexts(normalizeText(query), normalizeText(name), common / (wanted.size + found.size - common))
}

/** 1 for the same text, 0.9 and more for a beginning, 0.8 for the beginning of a word, else the share of common trigrams. */
function compareTexts(sought: string, text: string, shared: number) {
  if (sought === text) return 1
  if (sought && text.startsWith(sought)) return round(0.9 + (0.1 * sought.length) / text.length)
  if (sought && text.includes(` ${sought}`)) return 0.8
  return round(0.8 * shared)
}

export const round = (value: number) => Math.round(value * 1000) / 1000
