import { rotateEncryption } from '../operations/rotation/encryption.ts'
import { rotateRoot } from '../operations/rotation/root.ts'
import { command, print } from './command.ts'
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
    'Replace the root secret with a new version: encrypt the team keys, people and invitations with it, and sign the ends of the audit chains. Earlier versions stay for what cannot be encrypted again, such as rows of the audit log. The service can keep running. If the command is interrupted, run it again.',
  options: {},
  async run({ json }) {
    const rotated = await withApp(async (app) => {
      const rotated = await rotateRoot(app, (text) => console.error(text))
      return recordOperator(
        app,
        'rotate root secret',
        async () => rotated,
        ({ version }) => `version:${version}`,
      )
    })
    const { version, teams, people, chains } = rotated
    print(json, rotated, [`version ${version} is active: ${teams} teams, ${people} people and ${chains} audit chains use it`])
  },
})
