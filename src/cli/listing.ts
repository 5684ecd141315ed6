/** Marks an empty cell, so that every line has the same number of columns. */
const EMPTY_CELL = '-'

type Cell = string | number | null | undefined

/** Aligns rows in columns. Only a terminal gets the header and the footer, so that every line in a pipe is a row. */
export function listing(header: string[], rows: Cell[][], footer = '', onTerminal = process.stdout.isTTY === true) {
  const texts = rows.map((row) => row.map((cell) => (cell === '' || cell === null || cell === undefined ? EMPTY_CELL : String(cell))))
  if (!onTerminal) return alignColumns(texts)
  return [...(rows.length ? alignColumns([header, ...texts]) : []), ...(footer ? [footer] : rows.length ? [] : ['none'])]
}

function alignColumns(lines: string[][]) {
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0))
  const widths = (lines[0] ?? []).map((_, column) => widthOf(column))
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
