import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { reservePort } from '../../support/ports.ts'
import { root } from '../../support/process.ts'
import { type Block, blocksOf, isRun, pageText } from './blocks.ts'
import { follow } from './follow.ts'
import type { Session } from './session.ts'

type Stage = { name: string; commands: number; seconds: number }

/** Starts the service in the background, where the reader has a second terminal. */
const prelude = `npm() {
  [ "$1" = start ] || { command npm "$@"; return; }
  command npm start > npm-start.txt 2>&1 &
  until grep -s 'is ready at' npm-start.txt > /dev/null; do
    kill -0 $! 2> /dev/null || { cat npm-start.txt >&2; return 1; }
    sleep 0.1
  done
  sed -n '/is ready at/,$p' npm-start.txt | grep -v '^{'
}
`

/**
 * Clones the repository and runs every block of the README.
 * `linked` reuses the installed packages and the built console of this checkout.
 */
export async function newcomer(folder: string, { linked }: { linked: boolean }) {
  const began = Date.now() / 1000
  clone(folder)
  const cloned = Date.now() / 1000
  if (linked) link(folder)
  const port = await reservePort()
  const addresses = { '127.0.0.1:8080': `127.0.0.1:${port}`, 9099: String(await reservePort()) }
  const { faults, skipped, session } = await follow('README.md', { folder, from: folder, addresses, env: { PORT: String(port) }, prelude })
  const stages = [{ name: 'git clone', commands: 1, seconds: cloned - began }, ...stagesOf(session, folder)]
  return { faults, skipped, stages, verified: verifiedIn(session, folder, cloned - began) }
}

/** Clones the checkout with its uncommitted changes. */
function clone(folder: string) {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' })
  git('clone', '--quiet', root, folder)
  for (const file of git('ls-files', '-mo', '-z', '--exclude-standard').split('\0').filter(Boolean))
    existsSync(join(root, file)) ? cpSync(join(root, file), join(folder, file), { recursive: true }) : rmSync(join(folder, file))
}

function link(folder: string) {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  if (existsSync(join(root, 'console/dist'))) cpSync(join(root, 'console/dist'), join(folder, 'console/dist'), { recursive: true })
}

const stepsOf = (folder: string) => blocksOf('README.md', folder).filter(isRun)

/** The blocks under one heading of the page are a stage. */
function stagesOf(session: Session, folder: string): Stage[] {
  const lines = pageText('README.md', folder).split('\n')
  const headingOf = ({ line }: Block) => (lines.slice(0, line).findLast((text) => /^##+ /.test(text)) ?? '').replace(/^#+ /, '')
  return [...Map.groupBy(stepsOf(folder), headingOf)].map(([name, blocks]) => ({
    name,
    commands: blocks.reduce((sum, block) => sum + commandsIn(block), 0),
    seconds: blocks.reduce((sum, block) => sum + secondsOf(block, session, folder), 0),
  }))
}

function secondsOf(block: Block, { outputs, ended }: Session, folder: string) {
  const steps = stepsOf(folder)
  const next = steps[steps.findIndex(({ line }) => line === block.line) + 1]
  return ((next && outputs.get(next.line)?.at) ?? ended) - (outputs.get(block.line)?.at ?? ended)
}

/** Counts the lines that start a command, without the content of here-documents. */
function commandsIn({ language, text }: Block) {
  if (language !== 'sh') return 1
  const commands = text.replace(/<<'END'\n[\s\S]*?\nEND$/gm, '').split('\n')
  return commands.filter((line) => /^[^\s#]/.test(line)).length
}

/** The time and the commands up to the first verified message. */
function verifiedIn(session: Session, folder: string, before: number): Stage | undefined {
  const steps = stepsOf(folder)
  const last = steps.findIndex(({ line }) => /^verified /m.test(session.outputs.get(line)?.out ?? ''))
  if (last < 0) return undefined
  const path = steps.slice(0, last + 1)
  return {
    name: 'a verified webhook',
    commands: 1 + path.reduce((sum, block) => sum + commandsIn(block), 0),
    seconds: before + path.reduce((sum, block) => sum + secondsOf(block, session, folder), 0),
  }
}

export const table = (stages: Stage[]) =>
  stages
    .map(({ name, commands, seconds }) => `${name.padEnd(32)}${String(commands).padStart(4)} commands${seconds.toFixed(1).padStart(8)} s`)
    .join('\n')
