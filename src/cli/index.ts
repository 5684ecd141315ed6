import { findNearest } from '../contract/nearest.ts'
import { version } from '../contract/version.ts'
import { Problem } from '../platform/problem.ts'
import type { Command } from './command.ts'
import { reasonOf } from './failure.ts'
import { helpAsJson, helpOf, helpOfAll, helpOfGroup } from './help.ts'
import { isUsageError, parseOptions, usageLine } from './options.ts'
import { commands, renamedGroups } from './table.ts'

/** Runs one command and sets the exit code; `exitCodes` in table.ts lists the codes. */
export async function run(argv: string[]) {
  const args = withCurrentGroup(argv)
  const words = args.filter((arg) => !isHelp(arg))
  const command = findCommand(words)
  if (args[0] === '--version') return console.log(version)
  if (!args.length || args.some(isHelp)) return printHelp(words, command)
  if (!command) return rejectCommand(words)
  try {
    const line = usageLine(command.name, command.options)
    const rest = args.slice(command.name.split(' ').length)
    // A list of commands loses the type that each `run` gets from its options.
    await (command.run as (values: unknown) => Promise<void>)(parseOptions(rest, command.options, line))
  } catch (error) {
    const reason = reasonOf(error)
    console.error(args.includes('--json') ? JSON.stringify({ error: reason }) : reason.message)
    process.exitCode = error instanceof Problem && isUsageError(error) ? 2 : 1
  }
}

/** Replaces a former name of a command group. The group is the first word that is not a help flag. */
function withCurrentGroup(args: string[]) {
  const index = args.findIndex((arg) => !isHelp(arg))
  const current = renamedGroups.get(args[index] ?? '')
  return current ? args.with(index, current) : args
}

const isHelp = (arg: string) => ['help', '--help', '-h'].includes(arg)

const findCommand = (words: string[]) =>
  [words.slice(0, 2).join(' '), words[0]].map((name) => commands.find((command) => command.name === name)).find(Boolean)

const groupOf = ({ name }: Command) => name.split(' ')[0] as string

/** Prints the help of all commands, of a group such as `keys`, or of one command. */
function printHelp(words: string[], command: Command | undefined) {
  const [group, verb] = words.filter((word) => !word.startsWith('-'))
  const groupCommands = commands.filter((command) => groupOf(command) === group)
  if (group && (!groupCommands.length || (verb && !command))) return rejectCommand(words)
  if (words.includes('--json'))
    return console.log(JSON.stringify(helpAsJson(command ? [command] : group ? groupCommands : commands), null, 2))
  if (!group) return console.log(helpOfAll())
  const others = verb ? [] : groupCommands.filter((other) => other !== command)
  console.log(command ? helpOf(command, others) : helpOfGroup(groupCommands))
}

/** The message does not repeat the arguments, because they can contain a key. */
function rejectCommand(words: string[]) {
  const [group = '', verb = ''] = words.filter((word) => !word.startsWith('-'))
  const groupCommands = commands.filter((command) => groupOf(command) === group)
  const names = commands.flatMap((row) => [row.name, groupOf(row)])
  const nearest = findNearest(`${group} ${verb}`.trim(), names) ?? findNearest(group, names)
  const suggestion = nearest && nearest !== group ? ` Did you mean: assay ${nearest}?` : ''
  const message = `Unknown command.${suggestion} Run assay help to list all commands.`
  if (words.includes('--json')) console.error(JSON.stringify({ error: { type: 'USAGE', message } }))
  else if (suggestion || !groupCommands.length) console.error(message)
  else console.error(`${verb ? 'Unknown command' : 'Incomplete command'}. ${helpOfGroup(groupCommands)}`)
  process.exitCode = 2
}
