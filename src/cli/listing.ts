/** What stands for a cell that is empty, so that whoever splits a line finds every column. */
const NONE = '-'

type Cell = string | number | null | undefined

/**
 * Rows in columns. The names of the columns and the `last` line are for a person at a terminal only: what reads a pipe takes every line
 * for a row, and finds the rest in --json.
 */
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
