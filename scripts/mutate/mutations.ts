/** A change of one place in the code that a test should notice. */
export type Mutant = { file: string; offset: number; line: number; name: string; before: string; after: string }

type Mutation = { name: string; pattern: RegExp; change: (found: string) => string }

const swap = (name: string, one: string, other: string): Mutation => ({
  name,
  pattern: new RegExp(`${escapePattern(one)}|${escapePattern(other)}`, 'g'),
  change: (found) => (found === one ? other : one),
})

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Spaces keep generics and arrows out. */
const mutations: Mutation[] = [
  swap('negates an equality', ' === ', ' !== '),
  swap('moves a limit by one', ' < ', ' <= '),
  swap('moves a limit by one', ' > ', ' >= '),
  swap('swaps and and or', ' && ', ' || '),
  swap('swaps plus and minus', ' + ', ' - '),
  swap('swaps some and every', '.some(', '.every('),
  swap('swaps the smallest and the largest', 'Math.min(', 'Math.max('),
  swap('reverses an order', " 'asc'", " 'desc'"),
  { name: 'changes a constant condition', pattern: /\b(?:true|false)\b/g, change: (found) => (found === 'true' ? 'false' : 'true') },
  {
    name: 'never returns early',
    pattern: /^ +if \(.+\) return\b/gm,
    change: (found) => found.replace(/if \(.+\) return/, 'if (false) return'),
  },
  { name: 'never throws', pattern: /^ +if \(.+\)(?= throw\b)/gm, change: (found) => found.replace(/if \(.+\)/, 'if (false)') },
  { name: 'forgets the team', pattern: /\.where\('(?:\w+\.)?team_id', '=', team_id\)/g, change: () => '' },
  { name: 'forgets the team', pattern: /(?<=\b(?:where|and) )(?:\w+\.)?team_id = \$\{team_id\}(?:::uuid)?/g, change: () => 'true' },
]

/** A line of code, outside a text. */
const isCode = (line: string, column: number) => !notCode.test(line) && line.slice(0, column).split("'").length % 2 === 1

const notCode = /^\s*(?:\/\/|\*|\/\*|import\b|export type\b|type\b)/

/** Every mutant of a file, in the order of the text. */
export function findMutants(file: string, text: string): Mutant[] {
  const lines = text.split('\n')
  const starts = lines.map((_, i) => lines.slice(0, i).reduce((sum, line) => sum + line.length + 1, 0))
  return mutations
    .flatMap(({ name, pattern, change }) =>
      [...text.matchAll(pattern)].map(({ 0: before, index: offset }) => {
        const line = starts.findLastIndex((start) => start <= offset) + 1
        return { file, offset, line, name, before, after: change(before) }
      }),
    )
    .filter(({ line, offset }) => isCode(lines[line - 1] as string, offset - (starts[line - 1] as number)))
    .sort((a, b) => a.offset - b.offset)
}

export const applyMutant = (text: string, { offset, before, after }: Mutant) =>
  text.slice(0, offset) + after + text.slice(offset + before.length)
