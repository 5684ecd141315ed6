import { type Config, Settings } from '../config.ts'
import { findEncryptionKey } from '../data-dir.ts'
import { readSecretFile } from '../private-files.ts'
import { environment } from '../runtime/environment.ts'
import { keyFromCommand } from './key-command.ts'
import { type KeyEncryption, type KeyEncryptionKey, keyFromText } from './key-encryption.ts'
import { keyFromTransit, keysFromTransit, type Transit } from './vault-transit.ts'

/**
 * The key-encryption keys of the settings: Vault, then the command, then ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS.
 * `mustExist`: the database holds data, so a missing ENCRYPTION_KEY is not generated.
 */
export function keyEncryptionOf(config: Config, mustExist: boolean): KeyEncryption {
  const transit = transitOf(config)
  const services = [...(transit ? [keyFromTransit(transit)] : []), ...commandOf(config)]
  const key = findEncryptionKey(config, { mustExist, isOptional: services.length > 0 })
  const texts = [key, config.ENCRYPTION_KEY_PREVIOUS].filter((text) => text !== undefined)
  return { keys: [...services, ...texts.map(keyFromText)] as [KeyEncryptionKey], keyStore: transit && keysFromTransit(transit) }
}

function transitOf({ VAULT_TRANSIT_URL: url, VAULT_TRANSIT_KEY: key, ...config }: Config): Transit | undefined {
  if (!url || !key) return undefined
  const token = () => config.VAULT_TRANSIT_TOKEN ?? readSecretFile('VAULT_TRANSIT_TOKEN_FILE', config.VAULT_TRANSIT_TOKEN_FILE ?? '')
  return { url, key, namespace: config.VAULT_TRANSIT_NAMESPACE, token }
}

/** The program gets the environment without the settings of Assay, some of which are secret. */
function commandOf({ ENCRYPTION_KEY_COMMAND: program }: Config): KeyEncryptionKey[] {
  if (!program) return []
  const env = Object.fromEntries(Object.entries(environment()).filter(([name]) => !(name in Settings.shape)))
  return [keyFromCommand(program, env)]
}
