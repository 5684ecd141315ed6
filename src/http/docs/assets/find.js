// One search for both sides: the browser asks the index that it loaded, the server asks its own for readers without a script.

/** The entries that hold every word, best first. */
export function find(entries, query, limit = 20) {
  const words = wordsOf(query)
  if (!words.length) return []
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ entry }) => entry)
}

const WORDS = 12

/** Nobody searches for more words than these, and anybody may ask the server for thousands. */
const wordsOf = (query) => query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS)

function scoreOf({ page, title, text }, words) {
  const [inTitle, inPage, inText] = [title, page, text].map((one) => one.toLowerCase())
  const scores = words.map((word) => {
    if (inTitle === word) return 60
    if (inTitle.startsWith(word)) return 30
    if (inTitle.includes(word)) return 20
    if (inPage.includes(word)) return 8
    return inText.includes(word) ? 3 : 0
  })
  if (scores.includes(0)) return 0
  const whole = inTitle === words.join(' ') ? 60 : 0
  return whole + scores.reduce((sum, score) => sum + score, 0)
}

const BEFORE = 40
const LENGTH = 140

/** The piece of a text around the first word that was found. */
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
    .map((one, i) => ({ text: one, hit: i % 2 === 1 }))
    .filter((one) => one.text)
}
