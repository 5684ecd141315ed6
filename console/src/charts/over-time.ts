type Amount = { at: string; amount: number }

/** Amounts in as many columns of `width` milliseconds as there are up to now, the present one last. */
export function columnsOf(found: Amount[], width: number, columns: number, now: number) {
  const first = Math.floor(now / width) - (columns - 1)
  const values = Array.from({ length: columns }, () => 0)
  for (const { at, amount } of found) {
    const place = Math.floor(Date.parse(at) / width) - first
    if (place in values) values[place] = (values[place] ?? 0) + amount
  }
  return values
}
