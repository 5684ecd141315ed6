/** A token of SQL: a word, a punctuation mark, a string, a dollar-quoted body, or a gap where a program fills in a value. */
type Token = { kind: 'word' | 'mark' | 'string' | 'body' | 'gap'; text: string }

/** Marks an interpolated value in SQL text. */
export const GAP = '\ufffc'

/** The target table, or undefined if its name is computed. */
export type Write = { verb: string; table: string | undefined }

const pattern = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$([\s\S]*?)\$\1\$|(\ufffc)|"([^"]+)"|([A-Za-z_][\w$]*)|[^\s]/g

function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  for (const [text, , body, gap, quoted, word] of sql.matchAll(pattern)) {
    if (body !== undefined) tokens.push({ kind: 'body', text: body })
    else if (gap) tokens.push({ kind: 'gap', text: gap })
    else if (quoted !== undefined) tokens.push({ kind: 'word', text: quoted })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() })
    else if (text.startsWith("'")) tokens.push({ kind: 'string', text })
    else if (!/^(--|\/\*)/.test(text)) tokens.push({ kind: 'mark', text })
  }
  return tokens
}

/** Words before `update` that make it part of a lock, a conflict clause, a trigger or a foreign key. */
const notAStatement = ['for', 'key', 'do', 'on', 'before', 'after', 'or', 'of']

/** The tables that a SQL text writes. Prose yields none, because each verb must be followed by its SQL keywords. */
export function writesIn(sql: string): Write[] {
  const tokens = tokensOf(sql)
  const word = (i: number) => (tokens[i]?.kind === 'word' ? tokens[i].text : undefined)
  const mark = (i: number) => (tokens[i]?.kind === 'mark' ? tokens[i].text : undefined)
  const writes: Write[] = []
  tokens.forEach((token, i) => {
    if (token.kind === 'body') writes.push(...writesIn(token.text))
    if (token.kind !== 'word') return
    const verb = token.text
    if ((verb === 'insert' || verb === 'merge') && word(i + 1) === 'into') writes.push({ verb, table: targetAt(i + 2) })
    if (verb === 'delete' && word(i + 1) === 'from') writes.push({ verb, table: targetAt(i + 2) })
    if (verb === 'update' && !notAStatement.includes(word(i - 1) ?? '') && setsColumns(i + 1)) writes.push({ verb, table: targetAt(i + 1) })
    if (verb === 'truncate') for (const at of truncateTargets(i + 1)) writes.push({ verb, table: targetAt(at) })
    if (verb === 'copy' && copiesFrom(i + 1)) writes.push({ verb, table: targetAt(i + 1) })
  })
  return writes

  function skipKeywords(i: number) {
    const first = word(i) === 'table' ? i + 1 : i
    return word(first) === 'only' ? first + 1 : first
  }
  function targetAt(i: number): string | undefined {
    const at = skipKeywords(i)
    return mark(at + 1) === '.' ? word(at + 2) : word(at)
  }
  /** `update t set`, `update t as a set`, or text that ends or continues with a computed part. */
  function setsColumns(i: number) {
    const rest = tokens.slice(skipKeywords(i), skipKeywords(i) + 6)
    if (!rest.length) return /update\s+$/i.test(sql)
    return rest.some(({ kind, text }) => kind === 'gap' || text === 'set')
  }
  function truncateTargets(i: number) {
    const found: number[] = []
    for (let at = skipKeywords(i); tokens[at]?.kind === 'word' || tokens[at]?.kind === 'gap'; at += 2) {
      found.push(at)
      if (mark(at + 1) !== ',') return found
    }
    return found
  }
  function copiesFrom(i: number) {
    let at = i + 1
    if (mark(at) === '(') while (at < tokens.length && mark(at++) !== ')');
    const source = tokens[at + 1]
    return word(at) === 'from' && (['string', 'gap'].includes(source?.kind ?? '') || ['stdin', 'program'].includes(word(at + 1) ?? ''))
  }
}

/** Words before a list of tables. Columns can follow them too, so a name counts only if it is that of a table. */
const beforeTables = ['from', 'join', 'using']

/** The tables that a SQL text reads, besides those that it writes. */
export function readsIn(sql: string, isTable: (name: string) => boolean): string[] {
  const tokens = tokensOf(sql)
  const is = (i: number, text: string) => tokens[i]?.text === text
  const reads: string[] = []
  tokens.forEach(({ kind, text }, i) => {
    if (kind === 'body') reads.push(...readsIn(text, isTable))
    if (kind === 'word' && beforeTables.includes(text) && !is(i - 1, 'delete')) reads.push(...tablesFrom(i + 1))
  })
  return reads.filter(isTable)

  /** The names in a list of tables, with or without aliases. */
  function tablesFrom(start: number): string[] {
    const first = is(start, 'only') || is(start, 'lateral') ? start + 1 : start
    const name = is(first + 1, '.') ? first + 2 : first
    if (tokens[name]?.kind !== 'word') return []
    let next = is(name + 1, '(') ? endOfGroup(name + 1) : name + 1
    if (is(next, 'as')) next++
    if (tokens[next]?.kind === 'word') next++
    if (is(next, '(')) next = endOfGroup(next)
    return [tokens[name].text, ...(is(next, ',') ? tablesFrom(next + 1) : [])]
  }

  function endOfGroup(open: number) {
    let depth = 0
    for (let i = open; i < tokens.length; i++) {
      if (is(i, '(')) depth++
      if (is(i, ')') && --depth === 0) return i + 1
    }
    return tokens.length
  }
}

type SqlFunction = { name: string; writes: Write[]; body: string }
type Schema = { tables: Set<string>; partitions: Map<string, string>; functions: Map<string, SqlFunction> }

/** The tables and functions after a series of migrations. */
export function schemaOf(migrations: string[]): Schema {
  const schema: Schema = { tables: new Set(), partitions: new Map(), functions: new Map() }
  for (const migration of migrations) for (const statement of statementsOf(migration)) apply(schema, statement)
  return schema
}

function statementsOf(migration: string): Token[][] {
  const statements: Token[][] = [[]]
  for (const token of tokensOf(migration))
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  return statements.filter(({ length }) => length)
}

function apply({ tables, partitions, functions }: Schema, statement: Token[]) {
  const text = statement.map(({ kind, text }) => (kind === 'body' ? '' : text)).join(' ')
  const body = statement.find(({ kind }) => kind === 'body')?.text ?? ''
  const [, made] = /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(text) ?? []
  const [, parent] = /^create table \w+ partition of (\w+)/.exec(text) ?? []
  if (made && parent) partitions.set(made, parent)
  else if (made) tables.add(made)
  const [, from, to] = /^alter table (\w+) rename to (\w+)/.exec(text) ?? []
  if (from && to && tables.delete(from)) tables.add(to)
  const [, dropped] = /^drop table (?:if exists )?(\w+)/.exec(text) ?? []
  if (dropped) tables.delete(dropped)
  const [, name] = /^create (?:or replace )?(?:function|procedure) (\w+)/.exec(text) ?? []
  if (name) functions.set(name, { name, writes: [...writesIn(body), ...dynamicWrites(body)], body })
  const [, gone] = /^drop function (?:if exists )?(\w+)/.exec(text) ?? []
  if (gone) functions.delete(gone)
}

/** PL/pgSQL `execute` runs dynamic SQL, so the strings of the body count as well. */
const dynamicWrites = (body: string): Write[] =>
  /\bexecute\b/i.test(body)
    ? [...body.matchAll(/'((?:[^']|'')*)'/g)].flatMap(([, text]) => writesIn((text ?? '').replace(/%[IsL]/g, GAP)))
    : []
