import { type Block, blocksOf, expectedOutputOf, isRun, nameOf, pageText } from './blocks.ts'
import { isJson, isText } from './outcome.ts'
import { type BlockOutput, runBlocks, type Session, type Site, withLocalAddresses } from './session.ts'
import { tools } from './tools.ts'

/** Follows a page to its end: what is not as the page says, and what was skipped for want of a tool. */
export async function follow(page: string, site: Site) {
  const blocks = blocksOf(page, site.from)
  const here = blocks.filter(isRun).filter((block) => !missingFor(block))
  const session = await runBlocks(page, site, here)
  return {
    session,
    faults: [
      ...failureOf(page, session, site),
      ...here.flatMap((block) => faultsOf(block, expectedOutputOf(block, blocks), session, site)),
    ],
    skipped: blocks.filter(isRun).flatMap((block) => (missingFor(block) ? [`${nameOf(block)}: there is no ${missingFor(block)}`] : [])),
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
  const told = outcome && { ...outcome, text: withLocalAddresses(outcome.text, site.addresses) }
  return [
    ...responseFaults(block, told, output, site),
    ...(told && !matchesExpected(told, output.out) ? [`${nameOf(told)}: shows\n${told.text}\nbut it was\n${output.out}`] : []),
  ]
}

const matchesExpected = ({ language, text }: Block, out: string) => (language === 'json' ? isJson(text, out) : isText(text, out))

/** Every call of ours is a success, but for the last one where the page shows its refusal. */
function responseFaults(block: Block, told: Block | undefined, { out, err }: BlockOutput, { addresses }: Site) {
  const ours = `//${addresses['127.0.0.1:8080']}/`
  const answers = [...err.matchAll(/\[answered (\d+) (\S+)\]/g)].filter(([, , url]) => url?.includes(ours))
  const refusal = told?.attributes['status']
  return answers.flatMap(([, status = '', url], i) => {
    const isRight = refusal && i === answers.length - 1 ? status === refusal : /^2/.test(status)
    return isRight ? [] : [`${nameOf(block)}: ${url} was answered ${status}\n${out}`]
  })
}
