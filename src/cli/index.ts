import { version } from '../contract/version.ts'
import { Problem } from '../platform/problem.ts'
import { reasonOf } from './failure.ts'
import { loadCommand, renamedGroups } from './load-command.ts'
import { isUsageError, parseOptions, usageLine } from './options.ts'

/** Runs one command and sets the exit code; `exitCodes` in table.ts lists the codes. */
export async function run(argv: string[]) {
  const args = withCurrentGroup(argv)
  const words = args.filter((arg) => !isHelp(arg))
  if (args[0] === '--version') return console.log(version)
  if (!args.length || args.some(isHelp)) return (await import('./usage.ts')).printHelp(words)
  const command = await loadCommand(words)
  if (!command) return (await import('./usage.ts')).rejectCommand(words)
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
