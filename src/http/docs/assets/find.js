// The browser and the server share this search; the server uses it for readers without JavaScript.

/** Prepares entries for searches: each search compares in lower case. */
export const prepare = (entries) =>
  entries.map((entry) => ({
    entry,
    title: entry.title.toLowerCase(),
    page: entry.page.toLowerCase(),
    text: entry.text.toLowerCase(),
  }))

/** Returns the entries that contain every word, best first. */
export function find(index, query, limit = 20) {
  const words = wordsOf(query)
  if (!words.length) return []
  return index
    .map((lower) => ({ entry: lower.entry, score: scoreOf(lower, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ entry }) => entry)
}

const MAX_LENGTH = 200
const MAX_WORDS = 12

/** Limits the query, because a request to the server could hold thousands of words. */
const wordsOf = (query) => query.slice(0, MAX_LENGTH).toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)

function scoreOf({ title: inTitle, page: inPage, text: inText }, words) {
  const scores = words.map((word) => {
    if (inTitle === word) return 60
    if (inTitle.startsWith(word)) return 30
    if (inTitle.includes(word)) return 20
    if (inPage.includes(word)) return 8
    return inText.includes(word) ? 3 : 0
  })
  if (scores.includes(0)) return 0
  const exact = inTitle === words.join(' ') ? 60 : 0
  return exact + scores.reduce((sum, score) => sum + score, 0)
}

const BEFORE = 40
const LENGTH = 140

/** Returns the text around the first match, split into matches and the rest. */
export function excerpt(text, query) {
  const words = wordsOf(query)
  const lower = text.toLowerCase()
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length)
  const isNear = first === text.length || first < BEFORE
  const from = isNear ? 0 : Math.max(text.lastIndexOf(' ', first - BEFORE) + 1, first - 2 * BEFORE)
  const piece = `${from ? '…' : ''}${text.slice(from, from + LENGTH)}${text.length > from + LENGTH ? '…' : ''}`
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  if (!pattern) return [{ text: piece, hit: false }]
  return piece
    .split(new RegExp(`(${pattern})`, 'i'))
    .map((part, i) => ({ text: part, hit: i % 2 === 1 }))
    .filter((part) => part.text)
}
