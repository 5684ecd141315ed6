import { type Block, blocksOf, expectedOutputOf, isRun, nameOf, pageText } from './blocks.ts'
import { isJson, isText } from './outcome.ts'
import { type BlockOutput, runBlocks, type Session, type Site, withLocalAddresses } from './session.ts'
import { tools } from './tools.ts'

/** Runs every block of a page. Returns the faults, and the blocks skipped for a missing tool. */
export async function follow(page: string, site: Site) {
  const blocks = blocksOf(page, site.from)
  const runnable = blocks.filter(isRun).filter((block) => !missingFor(block))
  const session = await runBlocks(page, site, runnable)
  return {
    session,
    faults: [
      ...failureOf(page, session, site),
      ...runnable.flatMap((block) => faultsOf(block, expectedOutputOf(block, blocks), session, site)),
    ],
    skipped: blocks
      .filter(isRun)
      .flatMap((block) => (missingFor(block) ? [`${nameOf(block)}: ${missingFor(block)} is not installed`] : [])),
  }
}

const languageTools: Record<string, string> = { py: 'python3', go: 'go' }

/** A block that is only written to a file needs no tool. */
function missingFor({ language, attributes }: Block) {
  const needed = [attributes['needs'], attributes['file'] ? undefined : languageTools[language]]
  return needed.find((tool) => tool && !tools.has(tool))
}

function failureOf(page: string, { code, outputs, failedAt }: Session, site: Site) {
  if (code === 0) return []
  const at = failedAt ?? [...outputs.keys()].at(-1) ?? 1
  const { out = '', err = '' } = [...outputs].findLast(([line]) => line <= at)?.[1] ?? {}
  return [`${page}:${at}: failed: ${pageText(page, site.from).split('\n')[at - 1]}\n${out}\n${err}`]
}

function faultsOf(block: Block, outcome: Block | undefined, { outputs }: Session, site: Site): string[] {
  const output = outputs.get(block.line)
  if (!output) return [`${nameOf(block)}: was not reached`]
  const expected = outcome && { ...outcome, text: withLocalAddresses(outcome.text, site.addresses) }
  return [
    ...responseFaults(block, expected, output, site),
    ...(expected && !matchesExpected(expected, output.out)
      ? [`${nameOf(expected)}: shows\n${expected.text}\nbut it was\n${output.out}`]
      : []),
  ]
}

const matchesExpected = ({ language, text }: Block, out: string) => (language === 'json' ? isJson(text, out) : isText(text, out))

/** Every request must succeed, except for the last one if the page shows its error. */
function responseFaults(block: Block, expected: Block | undefined, { out, err }: BlockOutput, { addresses }: Site) {
  const ours = `//${addresses['127.0.0.1:8080']}/`
  const responses = [...err.matchAll(/\[returned (\d+) (\S+)\]/g)].filter(([, , url]) => url?.includes(ours))
  const errorStatus = expected?.attributes['status']
  return responses.flatMap(([, status = '', url], i) => {
    const isRight = errorStatus && i === responses.length - 1 ? status === errorStatus : /^2/.test(status)
    return isRight ? [] : [`${nameOf(block)}: ${url} returned ${status}\n${out}`]
  })
}
