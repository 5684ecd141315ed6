import { loadModule, parseSync } from 'libpg-query'

await loadModule()

/** A node of a parse tree: an object with one key, the kind of node. */
export type Node = Record<string, unknown>
export type Fields = Record<string, unknown>

/** PL/pgSQL also runs expressions, and assignments of expressions to variables. */
export function parseStatements(text: string) {
  const parse = (sql: string) => (parseSync(sql) as unknown as { stmts?: { stmt: Node }[] }).stmts ?? []
  try {
    return parse(text)
  } catch (error) {
    const assigned = text.indexOf(':=')
    const expressions = [text, ...(assigned < 0 ? [] : [text.slice(assigned + 2)])]
    for (const expression of expressions)
      try {
        return parse(`select ${expression}`)
      } catch {}
    throw error
  }
}

export const kindOf = (node: Node) => Object.keys(node)[0] as string
export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
export const list = (value: unknown): Node[] => (Array.isArray(value) ? (value as Node[]) : [])
export const fieldsOf = (node: unknown, kind: string) => (isNode(node) && kind in node ? (node[kind] as Fields) : undefined)

export function tableOf(node: Node) {
  const { relname, alias } = node['RangeVar'] as { relname: string; alias?: { aliasname: string } }
  return { table: relname, alias: alias?.aliasname ?? relname }
}

export const joinConditions = (nodes: Node[]): unknown[] =>
  nodes.flatMap((node) => {
    const join = fieldsOf(node, 'JoinExpr')
    return join ? [join['quals'], ...joinConditions([join['larg'] as Node, join['rarg'] as Node])] : []
  })

/** The pairs that a condition requires to be equal. */
export function equalitiesOf(condition: unknown): [unknown, unknown][] {
  const bool = fieldsOf(condition, 'BoolExpr')
  if (bool) return bool['boolop'] === 'AND_EXPR' ? list(bool['args']).flatMap(equalitiesOf) : []
  const expression = fieldsOf(condition, 'A_Expr')
  if (expression?.['kind'] !== 'AEXPR_OP') return []
  const operator = list(expression['name']).map((name) => fieldsOf(name, 'String')?.['sval'])
  if (operator.at(-1) !== '=') return []
  const [left, right] = [expression['lexpr'], expression['rexpr']]
  const [rows, others] = [fieldsOf(left, 'RowExpr'), fieldsOf(right, 'RowExpr')]
  if (rows && others) return list(rows['args']).map((item, i) => [item, list(others['args'])[i]])
  return [[left, right]]
}

export function columnParts(node: unknown): string[] | undefined {
  const fields = fieldsOf(node, 'ColumnRef')
  return fields && list(fields['fields']).map((part) => ('A_Star' in part ? '*' : (fieldsOf(part, 'String')?.['sval'] as string)))
}

export function columnNames(node: unknown) {
  const parts = columnParts(node)
  return parts?.at(-1) === '*' ? undefined : parts
}
