import { existsSync, readFileSync } from 'node:fs'
import { parseAst } from 'vite'

type Node = { type: string } & Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

/** The full titles of the tests in a file: the titles around a test and its own, joined by ` > `. Tests under `skip` and `todo` do not count. */
export const titlesIn = (text: string) => titlesBelow(parseAst(text, { lang: 'ts' }), [])

function titlesBelow(node: unknown, around: string[]): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => titlesBelow(one, around))
  if (!isNode(node)) return []
  const call = node.type === 'CallExpression' ? testCall(node) : undefined
  if (!call) return Object.values(node).flatMap((value) => titlesBelow(value, around))
  const titles = [...around, call.title]
  if (call.words.includes('skip') || call.words.includes('todo')) return []
  return call.words[0] === 'describe' ? titlesBelow(call.rest, titles) : [titles.join(' > ')]
}

/** A call of `test`, `test.each(…)` and the like, with the words before its title. */
function testCall(node: Node) {
  const words = wordsOf(node['callee'])
  const [first, ...rest] = node['arguments'] as Node[]
  const title = first?.type === 'Literal' ? first['value'] : undefined
  return /^(test|it|describe)$/.test(words[0] ?? '') && typeof title === 'string' ? { words, title, rest } : undefined
}

function wordsOf(callee: unknown): string[] {
  if (!isNode(callee)) return []
  if (callee.type === 'Identifier') return [callee['name'] as string]
  if (callee.type === 'CallExpression') return wordsOf(callee['callee'])
  if (callee.type === 'MemberExpression') return [...wordsOf(callee['object']), ...wordsOf(callee['property'])]
  return []
}

/** The titles of the tests in each of these files. A file that does not exist has none. */
export const testTitles = (root: string, files: Iterable<string>) =>
  new Map([...files].map((file) => [file, existsSync(root + file) ? titlesIn(readFileSync(root + file, 'utf8')) : []]))
