import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../support/process.ts'

/** A fenced block of a page. `attributes` follow the language in the fence, such as `not-run="needs a container engine"`. */
export type Block = { page: string; line: number; end: number; language: string; attributes: Record<string, string>; text: string }

/** Languages that run, that show output or requests, and that an administrator of the database runs. */
const runnable = ['sh', 'ts', 'js', 'py', 'go']
export const outputLanguages = ['text', 'json', 'http']
const adminLanguages = ['sql']
export const languages = [...runnable, ...outputLanguages, ...adminLanguages]

export const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]

export const pageText = (page: string, folder = root) => readFileSync(join(folder, page), 'utf8')

export function blocksOf(page: string, folder = root): Block[] {
  const lines = pageText(page, folder).split('\n')
  const blocks: Block[] = []
  for (let i = 0; i < lines.length; i++) {
    const fence = /^```(.*)$/.exec(lines[i] as string)
    if (!fence) continue
    const end = lines.indexOf('```', i + 1)
    if (end < 0) throw new Error(`${page}:${i + 1}: the block is not closed`)
    const [language = '', info = ''] = (fence[1] as string).split(/\s(.*)/)
    blocks.push({ page, line: i + 1, end: end + 1, language, attributes: parseAttributes(info), text: lines.slice(i + 1, end).join('\n') })
    i = end
  }
  return blocks
}

const parseAttributes = (info: string) =>
  Object.fromEntries([...info.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare])) as Record<
    string,
    string
  >

export const isRun = ({ language, attributes }: Block) => runnable.includes(language) && attributes['not-run'] === undefined

/** The expected output of a block: the next block, if at most an empty line is between them. */
export function expectedOutputOf(block: Block, blocks: Block[]): Block | undefined {
  const next = blocks[blocks.indexOf(block) + 1]
  return next && outputLanguages.includes(next.language) && next.line <= block.end + 2 ? next : undefined
}

export const nameOf = ({ page, line }: Block) => `${page}:${line}`
