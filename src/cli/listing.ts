/** Marks an empty cell, so that every line has the same number of columns. */
const NONE = '-'

type Cell = string | number | null | undefined

/** Aligns rows in columns. The header and the `last` line are printed on a terminal only, so that every line of a pipe is a row. */
export function listing(names: string[], rows: Cell[][], last = '', onTerminal = process.stdout.isTTY === true) {
  const texts = rows.map((row) => row.map((cell) => (cell === '' || cell === null || cell === undefined ? NONE : String(cell))))
  if (!onTerminal) return aligned(texts)
  return [...(rows.length ? aligned([names, ...texts]) : []), ...(last ? [last] : rows.length ? [] : ['none'])]
}

function aligned(lines: string[][]) {
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0))
  const widths = (lines[0] ?? []).map((_, column) => widthOf(column))
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
