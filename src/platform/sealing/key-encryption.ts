import { createHash, hkdfSync } from 'node:crypto'
import { openBytes, type SealingKey, sealBytes, sealingKey, uuidOf } from './seal.ts'

/** Encrypts the versions of the root secret. */
export type KeyEncryptionKey = {
  /** Stored next to each version, so that a start with other settings can say what is missing. It reveals nothing about the key. */
  name: string
  wrap(id: string, bytes: Buffer): Promise<Buffer>
  unwrap(id: string, wrapped: Buffer): Promise<Buffer>
}

/** The key-encryption keys of the settings. The first encrypts; the others only decrypt. */
export type KeyEncryption = {
  keys: [KeyEncryptionKey, ...KeyEncryptionKey[]]
  /** Where epoch keys are, if the settings have such a store. */
  keyStore?: KeyStore | undefined
}

/** Keys outside of the database, which never leave their store. Destroying one makes everything that it encrypted useless. */
export type KeyStore = {
  /** Creates a key unless it exists. */
  create(name: string): Promise<void>
  wrap(name: string, id: string, bytes: Buffer): Promise<Buffer>
  unwrap(name: string, id: string, wrapped: Buffer): Promise<Buffer>
  exists(name: string): Promise<boolean>
  /** Destroys a key unless that has happened, and checks that it is gone. */
  destroy(name: string): Promise<void>
}

const associatedData = (id: string) => `root_keys.wrapped.${id}`

/** A key-encryption key from the text of ENCRYPTION_KEY. */
export function keyFromText(text: string): KeyEncryptionKey {
  const key = derivedKey(text, 'assay root wrapping key')
  return {
    name: `ENCRYPTION_KEY ${key.id}`,
    wrap: async (id, bytes) => sealBytes(key, associatedData(id), bytes),
    unwrap: async (id, wrapped) => openBytes(key, associatedData(id), wrapped),
  }
}

/** The ID and the key as base64, for a service that cannot bind a ciphertext to an ID. */
export const packKey = (id: string, bytes: Buffer) => Buffer.concat([idBytes(id), bytes]).toString('base64')

/** Undefined if the text is not a packed key with this ID. */
export function unpackKey(id: string, text: string) {
  const packed = Buffer.from(text, 'base64')
  return packed.length === PACKED_BYTES && packed.subarray(0, ID_BYTES).equals(idBytes(id)) ? packed.subarray(ID_BYTES) : undefined
}

const ID_BYTES = 16
const PACKED_BYTES = ID_BYTES + 32

const idBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

function derivedKey(text: string, purpose: string): SealingKey {
  const bytes = Buffer.from(hkdfSync('sha256', text, '', purpose, 32))
  return sealingKey(uuidOf(createHash('sha256').update('assay key id').update(bytes).digest().subarray(0, 16)), bytes)
}
