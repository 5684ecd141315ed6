import { findNearest } from '../contract/nearest.ts'
import { version } from '../contract/version.ts'
import { Problem } from '../platform/problem.ts'
import { type Command, usageProblem } from './command.ts'
import { reasonOf } from './failure.ts'
import { helpOf, helpOfAll, helpOfGroup, shownAsJson } from './help.ts'
import { parseOptions, usageLine } from './options.ts'
import { commands, renamedGroups } from './table.ts'

/** Runs one command and sets the exit code; `exitCodes` in table.ts lists the codes. */
export async function run(typed: string[]) {
  const args = withPresentNames(typed)
  const words = args.filter((arg) => !isHelp(arg))
  const command = find(words)
  if (args[0] === '--version') return console.log(version)
  if (!args.length || args.some(isHelp)) return explain(words, command)
  if (!command) return refuse(words)
  try {
    const line = usageLine(command.name, command.options)
    const rest = args.slice(command.name.split(' ').length)
    // The type of `run` follows from the options of its own row, and a list of rows loses it.
    await (command.run as (values: unknown) => Promise<void>)(parseOptions(rest, command.options, line))
  } catch (error) {
    const reason = reasonOf(error)
    console.error(args.includes('--json') ? JSON.stringify({ error: reason }) : reason.message)
    process.exitCode = error instanceof Problem && usageProblem(error) ? 2 : 1
  }
}

/** Replaces a former name of the command group, which is the first word that does not ask for help. */
function withPresentNames(args: string[]) {
  const at = args.findIndex((arg) => !isHelp(arg))
  const present = renamedGroups.get(args[at] ?? '')
  return present ? args.with(at, present) : args
}

const isHelp = (arg: string) => ['help', '--help', '-h'].includes(arg)

const find = (words: string[]) =>
  [words.slice(0, 2).join(' '), words[0]].map((name) => commands.find((command) => command.name === name)).find(Boolean)

const groupOf = ({ name }: Command) => name.split(' ')[0] as string

/** Prints the help of all commands, of a group such as `keys`, or of one command. */
function explain(words: string[], command: Command | undefined) {
  const [group, verb] = words.filter((word) => !word.startsWith('-'))
  const ofGroup = commands.filter((command) => groupOf(command) === group)
  if (group && (!ofGroup.length || (verb && !command))) return refuse(words)
  if (words.includes('--json')) return console.log(JSON.stringify(shownAsJson(command ? [command] : group ? ofGroup : commands), null, 2))
  if (!group) return console.log(helpOfAll())
  const others = verb ? [] : ofGroup.filter((other) => other !== command)
  console.log(command ? helpOf(command, others) : helpOfGroup(ofGroup))
}

/** The message does not repeat the arguments, because they can contain a key. */
function refuse(words: string[]) {
  const [group = '', verb = ''] = words.filter((word) => !word.startsWith('-'))
  const ofGroup = commands.filter((command) => groupOf(command) === group)
  const names = commands.flatMap((row) => [row.name, groupOf(row)])
  const near = findNearest(`${group} ${verb}`.trim(), names) ?? findNearest(group, names)
  const meant = near && near !== group ? ` Did you mean: assay ${near}?` : ''
  const message = `Unknown command.${meant} Run assay help to list all commands.`
  if (words.includes('--json')) console.error(JSON.stringify({ error: { type: 'USAGE', message } }))
  else console.error(meant ? message : `Unknown command. ${ofGroup.length ? helpOfGroup(ofGroup) : helpOfAll()}`)
  process.exitCode = 2
}
