import { safeError } from '../log.ts'
import { Problem } from '../problem.ts'
import { auditVerify } from './audit.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { type Command, usageProblem } from './command.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { orgCommand, teamCommand } from './org.ts'
import { serve } from './serve.ts'

export const commands: Record<string, Command> = {
  serve: { usage: 'assay serve', summary: 'Start the service (what npm start does).', run: serve },
  bootstrap: bootstrapCommand,
  org: orgCommand,
  team: teamCommand,
  'keys list': listKeys,
  'keys create': createKey,
  'keys revoke': revokeKey,
  'audit verify': auditVerify,
}

/** Exit codes: 0 done, 1 refused or failed, 2 wrong usage. */
export async function run(args: string[]) {
  const [name, command] = find(args)
  if (!command) {
    const asked = !args.length || ['help', '--help', '-h'].includes(args[0] as string)
    console[asked ? 'log' : 'error'](asked ? help() : `Unknown command. ${help()}`)
    process.exitCode = asked ? 0 : 2
    return
  }
  const rest = args.slice(name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) return console.log(`${command.usage}\n\n${command.summary}`)
  try {
    await command.run(rest)
  } catch (error) {
    console.error(error instanceof Problem ? error.message : `Failed unexpectedly: ${JSON.stringify(safeError(error))}`)
    process.exitCode = error instanceof Problem && usageProblem(error) ? 2 : 1
  }
}

const find = (args: string[]): [string, Command | undefined] => {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find((name) => Object.hasOwn(commands, name)) ?? ''
  return [name, commands[name]]
}

const help = () =>
  [
    'Usage: assay COMMAND',
    '',
    ...Object.values(commands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`),
    '',
    'Settings come from the environment; docs/config.md lists them. Add --json for machine-readable output.',
  ].join('\n')
