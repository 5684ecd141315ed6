import { version } from '../contract/version.ts'
import { safeError } from '../log.ts'
import { Problem } from '../problem.ts'
import { auditVerify } from './audit.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { loadFile, showCatalogue } from './catalogue.ts'
import { type Command, usageProblem } from './command.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { createAccount, listAccounts, setAccountStatus } from './lab-accounts.ts'
import { createKeyOfLab, listKeysOfLabs, revokeKeyOfLab } from './lab-keys.ts'
import { approveTest, pendingTests } from './lab-tests.ts'
import { listenCommand } from './listen.ts'
import { orgCommand, teamCommand } from './org.ts'
import { seedWearables } from './seed-wearables.ts'
import { serve } from './serve.ts'

const commands: Record<string, Command> = {
  serve: { usage: 'assay serve', summary: 'Start the service (what npm start does).', run: serve },
  bootstrap: bootstrapCommand,
  org: orgCommand,
  team: teamCommand,
  'keys list': listKeys,
  'keys create': createKey,
  'keys revoke': revokeKey,
  'catalogue show': showCatalogue,
  'catalogue load': loadFile,
  'lab-keys list': listKeysOfLabs,
  'lab-keys create': createKeyOfLab,
  'lab-keys revoke': revokeKeyOfLab,
  'lab-accounts list': listAccounts,
  'lab-accounts create': createAccount,
  'lab-accounts set-status': setAccountStatus,
  'lab-tests pending': pendingTests,
  'lab-tests approve': approveTest,
  'seed wearables': seedWearables,
  listen: listenCommand,
  'audit verify': auditVerify,
}

/** Exit codes: 0 done, 1 refused or failed, 2 wrong usage. */
export async function run(args: string[]) {
  const [name, command] = find(args)
  if (!command) return explain(args)
  const rest = args.slice(name.split(' ').length)
  if (rest.some(isHelp)) return console.log(`${command.usage}\n\n${command.summary}`)
  try {
    await command.run(rest)
  } catch (error) {
    console.error(error instanceof Problem ? error.message : `Failed unexpectedly: ${JSON.stringify(safeError(error))}`)
    process.exitCode = error instanceof Problem && usageProblem(error) ? 2 : 1
  }
}

const isHelp = (arg: string) => ['help', '--help', '-h'].includes(arg)

/** Help of everything, or of a group such as `keys`; a wrong command gets it as an error. */
function explain(args: string[]) {
  if (args[0] === '--version') return console.log(version)
  const [group, ...rest] = args.filter((arg) => !isHelp(arg))
  const ofGroup = Object.entries(commands).filter(([name]) => name.split(' ')[0] === group)
  const asked = !args.length || (args.some(isHelp) && !rest.length && (!group || ofGroup.length > 0))
  const text = help(ofGroup.length ? Object.fromEntries(ofGroup) : commands)
  if (asked) return console.log(text)
  console.error(`Unknown command. ${text}`)
  process.exitCode = 2
}

const find = (args: string[]): [string, Command | undefined] => {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find((name) => Object.hasOwn(commands, name)) ?? ''
  return [name, commands[name]]
}

const help = (commands: Record<string, Command>) =>
  [
    'Usage: assay COMMAND',
    '',
    ...Object.values(commands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`),
    '',
    'Settings come from the environment; docs/config.md lists them. Add --json for machine-readable output.',
  ].join('\n')
