import { type Block, blocksOf, isRun, nameOf, outcomeOf, pageText } from './blocks.ts'
import { isJson, isText } from './outcome.ts'
import { converse, placed, type Said, type Session, type Site } from './session.ts'
import { tools } from './tools.ts'

/** Follows a page to its end: what is not as the page says, and what was skipped for want of a tool. */
export async function follow(page: string, site: Site) {
  const blocks = blocksOf(page, site.from)
  const here = blocks.filter(isRun).filter((block) => !missingFor(block))
  const session = await converse(page, site, here)
  return {
    session,
    faults: [...failureOf(page, session, site), ...here.flatMap((block) => faultsOf(block, outcomeOf(block, blocks), session, site))],
    skipped: blocks.filter(isRun).flatMap((block) => (missingFor(block) ? [`${nameOf(block)}: there is no ${missingFor(block)}`] : [])),
  }
}

const languageTools: Record<string, string> = { py: 'python3', go: 'go' }

/** A block that is only written to a file needs no tool. */
function missingFor({ language, told }: Block) {
  const needed = [told['needs'], told['file'] ? undefined : languageTools[language]]
  return needed.find((tool) => tool && !tools.has(tool))
}

function failureOf(page: string, { code, said, failedAt }: Session, site: Site) {
  if (code === 0) return []
  const at = failedAt ?? [...said.keys()].at(-1) ?? 1
  const { out = '', err = '' } = [...said].findLast(([line]) => line <= at)?.[1] ?? {}
  return [`${page}:${at}: failed: ${pageText(page, site.from).split('\n')[at - 1]}\n${out}\n${err}`]
}

function faultsOf(block: Block, outcome: Block | undefined, { said }: Session, site: Site): string[] {
  const heard = said.get(block.line)
  if (!heard) return [`${nameOf(block)}: was not reached`]
  const told = outcome && { ...outcome, text: placed(outcome.text, site.addresses) }
  return [
    ...answerFaults(block, told, heard, site),
    ...(told && !isAsShown(told, heard.out) ? [`${nameOf(told)}: shows\n${told.text}\nbut it was\n${heard.out}`] : []),
  ]
}

const isAsShown = ({ language, text }: Block, out: string) => (language === 'json' ? isJson(text, out) : isText(text, out))

/** Every call of ours is a success, but for the last one where the page shows its refusal. */
function answerFaults(block: Block, told: Block | undefined, { out, err }: Said, { addresses }: Site) {
  const ours = `//${addresses['127.0.0.1:8080']}/`
  const answers = [...err.matchAll(/\[answered (\d+) (\S+)\]/g)].filter(([, , url]) => url?.includes(ours))
  const refusal = told?.told['status']
  return answers.flatMap(([, status = '', url], i) => {
    const isRight = refusal && i === answers.length - 1 ? status === refusal : /^2/.test(status)
    return isRight ? [] : [`${nameOf(block)}: ${url} was answered ${status}\n${out}`]
  })
}
