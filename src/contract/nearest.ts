/** Finds the word that was probably meant, with at most a quarter of its letters wrong. */
export function findNearest(typed: string, words: readonly string[]): string | undefined {
  const [best] = words.map((word) => ({ word, off: distance(typed, word) })).sort((a, b) => a.off - b.off)
  return best && best.off <= Math.max(1, Math.floor(best.word.length / 4)) ? best.word : undefined
}

/** The number of letters to add, drop, change or swap (Damerau–Levenshtein). */
function distance(from: string, to: string) {
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row[j] = Math.min(
        (rows[i - 1]?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(row)
  }
  return rows[from.length]?.[to.length] ?? 0
}
