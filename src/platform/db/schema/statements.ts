/** Comments, function bodies, texts and quoted names, in which a semicolon ends no statement, and the semicolons that do. */
const parts = /--.*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|(;)/g

/** Splits the text of a migration at its semicolons. Citus sends some statements to its workers with the whole text they came in. */
export function splitStatements(text: string) {
  const statements: string[] = []
  let start = 0
  for (const { 2: semicolon, index } of text.matchAll(parts)) {
    if (!semicolon) continue
    statements.push(text.slice(start, index).trim())
    start = index + 1
  }
  return [...statements, text.slice(start).trim()].filter((statement) => statement.replace(/--.*/g, '').trim())
}
