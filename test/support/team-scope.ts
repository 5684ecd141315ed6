import {
  columnNames,
  columnParts,
  equalitiesOf,
  type Fields,
  fieldsOf,
  isNode,
  joinConditions,
  kindOf,
  list,
  type Node,
  parseStatements,
  tableOf,
} from './sql-tree.ts'

/** The column of each table that holds the team. */
export type TeamColumns = Map<string, string>

/** A relation in the FROM list of one query, under its alias. */
type Relation = {
  alias: string
  /** Set for a table of a team. */
  table?: string
  /** Columns that hold a team. */
  teamColumns: Set<string>
  /** Whether each team column comes from a single team: a parameter, or a subquery that names its team. */
  isBound: boolean
}

type Scope = { relations: Relation[]; ctes: Map<string, Set<string>>; outer?: Scope | undefined }

/** Lists the tables of a team that a statement touches without naming the team. */
export function tablesWithoutTeam(text: string, columns: TeamColumns): string[] {
  const missing = new Set<string>()
  const checker = new Checker(columns, missing)
  for (const { stmt } of parseStatements(text)) checker.statement(stmt, undefined)
  return [...missing].sort()
}

/** Whether a statement neither writes nor locks, also in its common table expressions. */
export function isPlainRead(text: string) {
  const kinds = /"(InsertStmt|UpdateStmt|DeleteStmt|LockingClause)":/
  return !kinds.test(JSON.stringify(parseStatements(text)))
}

/** Whether a statement only deletes. */
export const isPlainDelete = (text: string) => parseStatements(text).every(({ stmt }) => kindOf(stmt) === 'DeleteStmt')

/** Expressions of a statement that a distributed table does not support: `xmin`, `ctid`, and the time inside `do update set`. */
export function undistributable(text: string): string[] {
  const found = new Set<string>()
  const visit = (value: unknown, inUpsert: boolean) => {
    if (Array.isArray(value)) for (const item of value) visit(item, inUpsert)
    else if (isNode(value)) {
      const column = columnParts(value)?.at(-1)
      if (column === 'xmin' || column === 'ctid') found.add(column)
      const called = list(fieldsOf(value, 'FuncCall')?.['funcname']).map((name) => fieldsOf(name, 'String')?.['sval'])
      if (inUpsert && (timeFunctions.has(called.at(-1) as string) || 'SQLValueFunction' in value))
        found.add('the time inside do update set')
      for (const [key, child] of Object.entries(value)) visit(child, inUpsert || key === 'onConflictClause')
    }
  }
  visit(parseStatements(text), false)
  return [...found]
}

const timeFunctions = new Set(['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp'])

class Checker {
  readonly #columns: TeamColumns
  readonly #missing: Set<string>

  constructor(columns: TeamColumns, missing: Set<string>) {
    this.#columns = columns
    this.#missing = missing
  }

  /** Checks a statement and returns its output columns that hold the one team it names. */
  statement(node: Node, outer: Scope | undefined): Set<string> {
    const kind = kindOf(node)
    const fields = node[kind] as Fields
    if (kind === 'SelectStmt') return this.#select(fields, outer)
    if (kind === 'InsertStmt') return this.#insert(fields, outer)
    if (kind === 'UpdateStmt' || kind === 'DeleteStmt') return this.#change(fields, outer)
    if (kind === 'DeclareCursorStmt' || kind === 'ExplainStmt') return this.statement(fields['query'] as Node, outer)
    return new Set()
  }

  #select(fields: Fields, outer: Scope | undefined): Set<string> {
    const scope = this.#scope(fields, outer)
    const [left, right] = [fields['larg'], fields['rarg']]
    if (left && right) {
      const columns = this.#select(left as Fields, scope)
      const others = this.#select(right as Fields, scope)
      return new Set([...columns].filter((column) => others.has(column)))
    }
    this.#addRelations(list(fields['fromClause']), scope)
    this.#bind([...joinConditions(list(fields['fromClause'])), fields['whereClause']], scope)
    this.#subqueries({ ...fields, withClause: undefined, fromClause: undefined }, scope)
    this.#joinSubqueries(list(fields['fromClause']), scope)
    this.#report(scope)
    return this.#outputColumns(list(fields['targetList']), scope)
  }

  #insert(fields: Fields, outer: Scope | undefined): Set<string> {
    const scope = this.#scope(fields, outer)
    const { table, alias } = tableOf({ RangeVar: fields['relation'] } as Node)
    const column = this.#columns.get(table)
    const named = list(fields['cols']).map((col) => fieldsOf(col, 'ResTarget')?.['name'])
    if (column && named.length && !named.includes(column)) this.#missing.add(table)
    if (fields['selectStmt']) this.statement(fields['selectStmt'] as Node, scope)
    const inserted: Scope = { relations: [], ctes: new Map(), outer: scope }
    if (column) inserted.relations.push({ alias, table, teamColumns: new Set([column]), isBound: true })
    this.#subqueries(fields['onConflictClause'], inserted)
    this.#subqueries(fields['returningClause'] ?? fields['returningList'], inserted)
    return this.#outputColumns(list(fields['returningList']), inserted)
  }

  #change(fields: Fields, outer: Scope | undefined): Set<string> {
    const scope = this.#scope(fields, outer)
    const from = [...list(fields['fromClause']), ...list(fields['usingClause'])]
    this.#addRelations([{ RangeVar: fields['relation'] }, ...from], scope)
    this.#bind([...joinConditions(from), fields['whereClause']], scope)
    this.#subqueries({ ...fields, withClause: undefined, fromClause: undefined, usingClause: undefined }, scope)
    this.#joinSubqueries(from, scope)
    this.#report(scope)
    return this.#outputColumns(list(fields['returningList']), scope)
  }

  /** The scope of a query, with its common table expressions. */
  #scope(fields: Fields, outer: Scope | undefined): Scope {
    const scope: Scope = { relations: [], ctes: new Map(), outer }
    for (const cte of list((fields['withClause'] as Fields | undefined)?.['ctes'])) {
      const { ctename, ctequery } = fieldsOf(cte, 'CommonTableExpr') as { ctename: string; ctequery: Node }
      // A recursive one reads itself, which is not a table.
      scope.ctes.set(ctename, new Set())
      scope.ctes.set(ctename, this.statement(ctequery, scope))
    }
    return scope
  }

  #addRelations(nodes: Node[], scope: Scope) {
    for (const node of nodes) {
      const join = fieldsOf(node, 'JoinExpr')
      if (join) this.#addRelations([join['larg'] as Node, join['rarg'] as Node], scope)
      else if ('RangeVar' in node) this.#addTable(node, scope)
      else if ('RangeSubselect' in node) {
        const { alias, subquery } = node['RangeSubselect'] as { alias?: { aliasname: string }; subquery: Node }
        // A lateral subquery sees the relations before it.
        const columns = this.statement(subquery, scope)
        scope.relations.push({ alias: alias?.aliasname ?? '', teamColumns: columns, isBound: true })
      } else {
        const { alias } = Object.values(node)[0] as { alias?: { aliasname: string } }
        scope.relations.push({ alias: alias?.aliasname ?? '', teamColumns: new Set(), isBound: false })
        this.#subqueries(node, scope)
      }
    }
  }

  #addTable(node: Node, scope: Scope) {
    const { table, alias } = tableOf(node)
    const cte = findCte(scope, table)
    const column = this.#columns.get(table)
    if (cte) scope.relations.push({ alias, teamColumns: cte, isBound: true })
    else if (column) scope.relations.push({ alias, table, teamColumns: new Set([column]), isBound: false })
    else scope.relations.push({ alias, teamColumns: new Set(table === 'teams' ? ['id'] : []), isBound: false })
  }

  /** Marks relations whose team equals a parameter, or the team of a relation that is marked. */
  #bind(conditions: unknown[], scope: Scope) {
    const equalities = conditions.flatMap(equalitiesOf)
    for (let changed = true; changed; ) {
      changed = false
      for (const [left, right] of equalities)
        for (const [column, value] of [
          [left, right],
          [right, left],
        ] as const) {
          const relation = this.#relationOf(column, scope)
          if (!relation || relation.isBound || !this.#isOneTeam(value, scope)) continue
          relation.isBound = true
          changed = true
        }
    }
  }

  /** The relation of this query whose team column this is. */
  #relationOf(node: unknown, scope: Scope): Relation | undefined {
    const names = columnNames(node)
    if (!names) return undefined
    const [qualifier, name] = names.length > 1 ? [names.at(-2), names.at(-1)] : [undefined, names[0]]
    return scope.relations.find(
      ({ alias, teamColumns }) => teamColumns.has(name as string) && (qualifier === undefined || qualifier === alias),
    )
  }

  /** Whether a value names one team: a parameter, a constant, a variable of a function, or the column of a query around this one. */
  #isOneTeam(node: unknown, scope: Scope): boolean {
    const cast = fieldsOf(node, 'TypeCast')
    if (cast) return this.#isOneTeam(cast['arg'], scope)
    if (fieldsOf(node, 'ParamRef') || fieldsOf(node, 'A_Const')) return true
    const names = columnNames(node)
    if (!names) return false
    const own = this.#relationOf(node, scope)
    if (own) return own.isBound
    const qualifier = names.length > 1 ? names.at(-2) : undefined
    for (let around: Scope | undefined = scope; around; around = around.outer) {
      const known = around.relations.find(({ alias }) => alias === qualifier)
      // A relation of an outer query is checked there. A column of this query that holds no team is no team.
      if (known) return around !== scope && known.teamColumns.has(names.at(-1) as string)
      if (around !== scope && this.#relationOf(node, around)) return true
    }
    // Not a relation: an argument of the function that contains the statement.
    return qualifier !== undefined
  }

  /** The columns of the result that hold the team of a marked relation. */
  #outputColumns(targets: Node[], scope: Scope) {
    const columns = new Set<string>()
    for (const target of targets) {
      const { name, val } = fieldsOf(target, 'ResTarget') as { name?: string; val: unknown }
      const parts = columnParts(val)
      if (parts?.at(-1) === '*') {
        const qualifier = parts.at(-2)
        for (const relation of scope.relations)
          if (relation.isBound && (qualifier === undefined || relation.alias === qualifier))
            for (const column of relation.teamColumns) columns.add(column)
        continue
      }
      const relation = this.#relationOf(val, scope)
      if (relation?.isBound) columns.add(name ?? (columnNames(val)?.at(-1) as string))
    }
    return columns
  }

  /** Checks the subqueries in expressions. */
  #subqueries(value: unknown, scope: Scope) {
    if (Array.isArray(value)) for (const item of value) this.#subqueries(item, scope)
    else if (isNode(value)) {
      const link = fieldsOf(value, 'SubLink')
      if (link) {
        this.statement(link['subselect'] as Node, scope)
        this.#subqueries(link['testexpr'], scope)
      } else for (const child of Object.values(value)) this.#subqueries(child, scope)
    }
  }

  #joinSubqueries(nodes: Node[], scope: Scope) {
    for (const condition of joinConditions(nodes)) this.#subqueries(condition, scope)
  }

  #report(scope: Scope) {
    for (const { table, isBound } of scope.relations) if (table && !isBound) this.#missing.add(table)
  }
}

function findCte(scope: Scope | undefined, name: string): Set<string> | undefined {
  return scope && (scope.ctes.get(name) ?? findCte(scope.outer, name))
}
