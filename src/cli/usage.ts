import { findNearest } from '../contract/nearest.ts'
import type { Command } from './command.ts'
import { helpAsJson, helpOf, helpOfAll, helpOfGroup } from './help.ts'
import { commands } from './table.ts'

const findCommand = (words: string[]) =>
  [words.slice(0, 2).join(' '), words[0]].map((name) => commands.find((command) => command.name === name)).find(Boolean)

const groupOf = ({ name }: Command) => name.split(' ')[0] as string

/** Prints the help of all commands, of a group such as `keys`, or of one command. */
export function printHelp(words: string[]) {
  const command = findCommand(words)
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
export function rejectCommand(words: string[]) {
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
