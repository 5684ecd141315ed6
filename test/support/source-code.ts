import { parseAst } from 'vite'
import { GAP, readsIn, type Write, writesIn } from './sql-writes.ts'

type Node = { type: string } & Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

/** Calls `visit` with each node below `node`. If `visit` returns true, its children are skipped. */
function walk(node: unknown, visit: (node: Node) => boolean | undefined) {
  if (Array.isArray(node)) for (const one of node) walk(one, visit)
  if (!isNode(node) || visit(node)) return
  for (const value of Object.values(node)) walk(value, visit)
}

export type Program = Node

export const parse = (file: string, text: string) => parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Program

type Import = { path: string; typeOnly: boolean }

/** The imports and re-exports of a file. An import with only inline types still loads the file, so it counts as a value import. */
export function importsOf(program: Node): Import[] {
  const imports: Import[] = []
  walk(program, (node) => {
    const source = (node['source'] as { value?: unknown } | null | undefined)?.value
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && typeof source === 'string')
      imports.push({ path: source, typeOnly: node['importKind'] === 'type' || node['exportKind'] === 'type' })
    if (node.type === 'ImportExpression' && typeof source === 'string') imports.push({ path: source, typeOnly: false })
    return undefined
  })
  return imports
}

const builders = new Map([
  ['insertInto', 'insert'],
  ['replaceInto', 'insert'],
  ['updateTable', 'update'],
  ['deleteFrom', 'delete'],
  ['mergeInto', 'merge'],
])

/**
 * The tables that a file writes with Kysely or SQL text. If the table name is a parameter, every table in the file's union types counts,
 * because the compiler accepts no other. Without such a union the table is undefined.
 */
export function writesOf(program: Node, isTable: (name: string) => boolean): Write[] {
  const writes: Write[] = []
  const named = new Set<string>()
  walk(program, (node) => {
    if (node.type === 'TSUnionType') for (const name of literalsOf(node)) if (isTable(name)) named.add(name)
    const verb = builders.get(((node['callee'] as Node | undefined)?.['property'] as { name?: string } | undefined)?.name ?? '')
    if (node.type === 'CallExpression' && verb) {
      const [target] = node['arguments'] as Node[]
      writes.push({ verb, table: target && textOf(target)?.split(' ')[0] })
    }
    const text = textOf(node)
    if (text === undefined) return undefined
    writes.push(...writesIn(text))
    // Concatenated strings form one text; computed parts are read separately.
    for (const part of computedPartsOf(node)) writes.push(...writesOf(part, isTable))
    return true
  })
  return writes.flatMap(({ verb, table }) => (table || !named.size ? [{ verb, table }] : [...named].map((table) => ({ verb, table }))))
}

const readers = /^(selectFrom|from|using|table|(inner|left|right|full|cross)Join(Lateral)?)$/

/** The tables that a file reads with Kysely or SQL text. Names that are computed do not count. */
export function readsOf(program: Node, isTable: (name: string) => boolean): string[] {
  const reads: string[] = []
  walk(program, (node) => {
    const called = ((node['callee'] as Node | undefined)?.['property'] as { name?: string } | undefined)?.name ?? ''
    if (node.type === 'CallExpression' && readers.test(called)) {
      const [target] = node['arguments'] as Node[]
      const sources = target?.type === 'ArrayExpression' ? (target['elements'] as Node[]) : target ? [target] : []
      reads.push(...sources.map((source) => textOf(source)?.split(' ')[0] ?? '').filter(isTable))
    }
    const text = textOf(node)
    if (text === undefined) return undefined
    reads.push(...readsIn(text, isTable))
    for (const part of computedPartsOf(node)) reads.push(...readsOf(part, isTable))
    return true
  })
  return reads
}

const literalsOf = (union: Node) =>
  (union['types'] as Node[]).flatMap((type) => {
    const value = (type['literal'] as { value?: unknown } | undefined)?.value
    return typeof value === 'string' ? [value] : []
  })

/** The text of an expression, with a gap for each computed part, or undefined if it is not a string. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type === 'TemplateLiteral') return (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(GAP)
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined
  const [left, right] = [textOf(node['left'] as Node), textOf(node['right'] as Node)]
  return left === undefined && right === undefined ? undefined : `${left ?? GAP}${right ?? GAP}`
}

/** The computed parts of a text. */
function computedPartsOf(node: Node): Node[] {
  if (node.type === 'TemplateLiteral') return node['expressions'] as Node[]
  if (node.type !== 'BinaryExpression') return []
  return [node['left'] as Node, node['right'] as Node].flatMap((side) => (textOf(side) === undefined ? [side] : computedPartsOf(side)))
}

/** The names of the members that a file gives to the interface, also by augmenting another module. */
export function membersOf(program: Node, name: string): string[] {
  const members: string[] = []
  walk(program, (node) => {
    if (node.type !== 'TSInterfaceDeclaration' || (node['id'] as { name?: string }).name !== name) return undefined
    for (const { key } of (node['body'] as { body: { key: { name: string } }[] }).body) members.push(key.name)
    return true
  })
  return members
}

type Declared = { name: string; text: string | undefined; options: string[] }

/** The statements that a file declares with a name, a text and literal options, such as `hot: 'write'`. */
export function statementsOf(program: Node): Declared[] {
  const statements: Declared[] = []
  walk(program, (node) => {
    if (node.type !== 'CallExpression' || (node['callee'] as { name?: string }).name !== 'prepareStatement') return undefined
    const [name, text, options] = node['arguments'] as Node[]
    const properties = (options?.['properties'] ?? []) as { key: { name: string }; value: { value: unknown } }[]
    statements.push({
      name: (name && textOf(name)) ?? GAP,
      text: text && textOf(text),
      options: properties.map(({ key, value }) => `${key.name}: ${value.value}`),
    })
    return undefined
  })
  return statements
}

/** Strongly connected groups in alphabetical order (Tarjan's algorithm). */
export function cyclesOf(graph: Map<string, Iterable<string>>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const lower = (name: string, value: number) => low.set(name, Math.min(low.get(name) ?? value, value))
  const visit = (name: string) => {
    index.set(name, index.size)
    lower(name, index.get(name) as number)
    stack.push(name)
    const next = [...(graph.get(name) ?? [])].filter((other) => graph.has(other))
    for (const other of next) {
      if (!index.has(other)) {
        visit(other)
        lower(name, low.get(other) as number)
      } else if (stack.includes(other)) lower(name, index.get(other) as number)
    }
    if (low.get(name) !== index.get(name)) return
    const group = stack.splice(stack.indexOf(name))
    if (group.length > 1 || next.includes(name)) cycles.push(group.sort())
  }
  for (const name of graph.keys()) if (!index.has(name)) visit(name)
  return cycles
}
