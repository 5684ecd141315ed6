type Amount = { at: string; amount: number }

/** Sums amounts into columns of `width` milliseconds that end now. */
export function groupByColumn(amounts: Amount[], width: number, columns: number, now: number) {
  const first = Math.floor(now / width) - (columns - 1)
  const values = Array.from({ length: columns }, () => 0)
  for (const { at, amount } of amounts) {
    const index = Math.floor(Date.parse(at) / width) - first
    if (index in values) values[index] = (values[index] ?? 0) + amount
  }
  return values
}
