import { Id } from '../contract/common.ts'
import { findTeamOfUser, rotateData } from '../operations/rotation/data.ts'
import { rotateEncryption } from '../operations/rotation/encryption.ts'
import { rotateRoot } from '../operations/rotation/root.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { usageError } from './options.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

const kinds = ['key', 'command', 'vault'] as const

export const rotateEncryptionCommand = command({
  name: 'keys rotate-encryption',
  summary:
    'Encrypt the root secret with another key: set ENCRYPTION_KEY to the new key and ENCRYPTION_KEY_PREVIOUS to the old one, or set up a key management service. The service can keep running. Afterwards no start needs the old key.',
  options: {
    to: {
      value: kinds.join('|'),
      what: 'The key to encrypt with: ENCRYPTION_KEY, ENCRYPTION_KEY_COMMAND or VAULT_TRANSIT_KEY. Default: the last of these that is set.',
      oneOf: kinds,
    },
  },
  examples: ['ENCRYPTION_KEY=… ENCRYPTION_KEY_PREVIOUS=… assay keys rotate-encryption', 'assay keys rotate-encryption --to vault'],
  async run({ to, json }) {
    const rotated = await withApp((app) => rotateEncryption(app, to))
    print(json, rotated, [`encrypted ${rotated.versions} versions of the root secret with ${rotated.encrypted_with}`])
  },
})

export const rotateRootCommand = command({
  name: 'keys rotate-root',
  summary:
    'Replace the root secret with a new version: encrypt the team keys, people, invitations and messages of labs with it, and sign the ends of the audit chains. Earlier versions stay for what cannot be encrypted again, such as rows of the audit log. The service can keep running. If the command is interrupted, run it again.',
  options: {},
  async run({ json }) {
    const rotated = await withApp(async (app, { reportRoots }) => {
      const rotated = await rotateRoot(app, (text) => console.error(text), reportRoots)
      return recordOperator(
        app,
        'rotate root secret',
        async () => rotated,
        ({ version }) => `version:${version}`,
      )
    })
    const { version, teams, people, chains, lab_rows } = rotated
    const users = `${teams} teams, ${people} people, ${chains} audit chains and ${lab_rows} messages of labs`
    print(json, rotated, [`version ${version} is active: ${users} use it`])
  },
})

export const rotateDataCommand = command({
  name: 'keys rotate-data',
  summary:
    'Replace the data key of a team, of one user or of all users of a team, and encrypt their data again. The service can keep running. If the command is interrupted, run it again, or a worker continues. The earlier key still decrypts for a day.',
  options: {
    team: { value: 'ID', what: 'The team whose key is replaced.', shape: Id },
    users: { what: 'Replace the keys of all users of the team instead.' },
    user: { value: 'ID', what: 'The user whose key is replaced.', shape: Id },
  },
  examples: ['assay keys rotate-data --team ID', 'assay keys rotate-data --team ID --users', 'assay keys rotate-data --user ID'],
  async run({ team, users, user, json }) {
    if ((team === undefined) === (user === undefined)) throw usageError('Use either --team or --user.')
    if (users && !team) throw usageError('--users needs --team.')
    const rotated = await withApp(async (app) => {
      const scope = {
        team_id: team ?? (await teamOf(app, user as string)),
        of: user ? { user_id: user } : users ? 'users' : 'team',
      } as const
      const rotated = await rotateData(app, scope, (text) => console.error(text))
      const subject = user ? `user_id:${user}` : `team_id:${team}`
      return recordOperator(
        app,
        users ? 'rotate data keys of users' : 'rotate data key',
        async () => rotated,
        () => subject,
      )
    })
    print(json, rotated, [`replaced ${rotated.keys} keys: ${rotated.rows} rows are encrypted again`])
  },
})

async function teamOf(app: App, user_id: string) {
  const team_id = await findTeamOfUser(app, user_id)
  if (!team_id) throw setupProblem('No user has this ID; list the users with: assay users list')
  return team_id
}
