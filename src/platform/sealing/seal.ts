import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import { compress, decompress, isCompressed } from './compression/compress.ts'

/** A key and its ID, which every ciphertext authenticates. */
export type SealingKey = {
  id: string
  idBytes: Buffer
  /** The IDs of its team and user, which its documents contain. Compressed documents refer to them. */
  owner: string
  bytes: Buffer
  /** `bytes` as a KeyObject, because Node is several times slower with raw bytes. */
  secret: KeyObject
  /** Derived keys by purpose, filled on first use. */
  derived: Map<string, KeyObject>
  /** Other keys of the same owner, while one replaces another. They only decrypt. The next one, if there is one, is last. */
  others?: SealingKey[]
  /** Keyed hashes of a replaced key derive from this, so that they stay the same. It decrypts nothing. */
  hashBase?: Buffer
  /** Of a team: the epochs that wrap the keys of its users. They only decrypt. */
  epochs?: SealingKey[]
  /** Of a team: the epoch that wraps the keys of its users from now on, instead of the team's key. */
  wrapsWith?: SealingKey
}

export const sealingKey = (id: string, bytes: Buffer, owner = ''): SealingKey => ({
  ...{ id, owner, bytes },
  idBytes: Buffer.from(id.replaceAll('-', ''), 'hex'),
  secret: createSecretKey(bytes),
  derived: new Map(),
})

/** The first byte of a ciphertext. The others are compressed. */
const UNCOMPRESSED = 1
const ID = 16
const IV = 12
const TAG = 16

export const newKey = (owner = '') => sealingKey(randomUUID(), randomBytes(32), owner)

/** AES-256-GCM. `associatedData` (table.column.row) is authenticated, so a ciphertext moved elsewhere does not decrypt. */
export const sealBytes = (key: SealingKey, associatedData: string, plain: Buffer) => encrypt(key, associatedData, UNCOMPRESSED, plain)

export const isUncompressed = (sealed: Buffer) => sealed[0] === UNCOMPRESSED

/** Compressed documents are many and small, so they authenticate the ID of the key without storing it. */
const headerBytes = (format: number) => (format === UNCOMPRESSED ? 1 + ID : 1)

const headerOf = (format: number, { idBytes }: SealingKey) => Buffer.concat([Buffer.of(format), idBytes])

function encrypt(key: SealingKey, associatedData: string, format: number, plain: Buffer): Buffer {
  const { cipher, start } = beginCipher(key, associatedData, format)
  return Buffer.concat([start, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** A ciphertext is `start`, what the cipher returns, and its tag. */
export function beginCipher(key: SealingKey, associatedData: string, format = UNCOMPRESSED) {
  const header = headerOf(format, key)
  const iv = nextIv()
  const cipher = createCipheriv('aes-256-gcm', key.secret, iv)
  cipher.setAAD(Buffer.concat([header, Buffer.from(associatedData)]))
  return { cipher, start: Buffer.concat([header.subarray(0, headerBytes(format)), iv]) }
}

const IVS_AT_ONCE = 256
let ivs = Buffer.alloc(0)

/** Random bytes cost a system call, so a process reads those of many ciphertexts at once. */
function nextIv() {
  if (!ivs.length) ivs = randomBytes(IVS_AT_ONCE * IV)
  const iv = ivs.subarray(0, IV)
  ivs = ivs.subarray(IV)
  return iv
}

export function openBytes(key: SealingKey, associatedData: string, sealed: Buffer): Buffer {
  const { plain } = decryptAny(key, associatedData, sealed)
  const format = sealed[0] as number
  return format === UNCOMPRESSED ? plain : decompress(format, plain, key.owner)
}

/** Decrypts with the key, or the one of its others and epochs that encrypted. Does not decompress. */
function decryptAny(key: SealingKey, associatedData: string, sealed: Buffer): { by: SealingKey; plain: Buffer } {
  const format = sealed[0] as number
  if (format !== UNCOMPRESSED && !isCompressed(format))
    throw new Error(`Encrypted in format ${format}, which this version does not support`)
  if (format === UNCOMPRESSED) {
    const by = namedKey(key, sealed)
    return { by, plain: decrypt(by, associatedData, sealed) }
  }
  const keys = allKeys(key)
  // A compressed document does not say which key encrypted it.
  for (const by of keys.slice(0, -1))
    try {
      return { by, plain: decrypt(by, associatedData, sealed) }
    } catch {}
  const by = keys.at(-1) as SealingKey
  return { by, plain: decrypt(by, associatedData, sealed) }
}

const allKeys = (key: SealingKey) => (key.others || key.epochs ? [key, ...(key.others ?? []), ...(key.epochs ?? [])] : [key])

/** The key that an uncompressed ciphertext names: this key, or one of its others and epochs. */
export function namedKey(key: SealingKey, sealed: Buffer): SealingKey {
  const by = allKeys(key).find(({ idBytes }) => sealed.subarray(1, 1 + ID).equals(idBytes))
  if (!by) throw new Error('Encrypted with another key')
  return by
}

function decrypt(key: SealingKey, associatedData: string, sealed: Buffer) {
  const { decipher, body } = beginDecipher(key, associatedData, sealed)
  const plain = decipher.update(body)
  // It is empty, and throws unless the tag is right.
  decipher.final()
  return plain
}

/** The output of the decipher is authentic only after its end, which throws unless the tag is right. */
export function beginDecipher(key: SealingKey, associatedData: string, sealed: Buffer) {
  const format = sealed[0] as number
  const start = headerBytes(format)
  const decipher = createDecipheriv('aes-256-gcm', key.secret, sealed.subarray(start, start + IV))
  decipher.setAAD(Buffer.concat([headerOf(format, key), Buffer.from(associatedData)]))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG))
  return { decipher, body: sealed.subarray(start + IV, sealed.length - TAG) }
}

/** Encrypts what another key of the same owner encrypted again, with the current one. Undefined if no other key did. */
export function reseal(key: SealingKey, associatedData: string, sealed: Buffer): Buffer | undefined {
  const { by, plain } = decryptAny(key, associatedData, sealed)
  return key.others?.includes(by) ? encrypt(key, associatedData, sealed[0] as number, plain) : undefined
}

/** Encrypts one document. */
export const seal = (key: SealingKey, associatedData: string, document: unknown) =>
  sealBytes(key, associatedData, Buffer.from(JSON.stringify(document)))

/** Compresses and encrypts the JSON text of a document, for documents that are many or large. */
export function sealCompressed(key: SealingKey, associatedData: string, text: string) {
  const { format, bytes } = compress(Buffer.from(text), key.owner)
  return encrypt(key, associatedData, format, bytes)
}

export const open = <T>(key: SealingKey, associatedData: string, sealed: Buffer) => JSON.parse(openText(key, associatedData, sealed)) as T

/** Decrypts a document to its JSON text. */
export const openText = (key: SealingKey, associatedData: string, sealed: Buffer) => openBytes(key, associatedData, sealed).toString()

/** The ID of the key that decrypts an uncompressed ciphertext. */
export const keyIdOf = (sealed: Buffer) => uuidOf(sealed.subarray(1, 1 + ID))

/** Derives a key for one purpose; it reveals nothing about the key it comes from. */
export const derive = ({ secret, hashBase }: SealingKey, purpose: string) =>
  hashBase
    ? createHmac('sha256', hashBase).update(purpose).update(Buffer.of(1)).digest()
    : Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))

/** What `derive` expands: the first step of HKDF. */
export const hashBaseOf = ({ secret, hashBase }: SealingKey) =>
  hashBase ?? createHmac('sha256', Buffer.alloc(0)).update(secret.export()).digest()

/** A derived key as a KeyObject, kept with the key it comes from: a team's for the life of the process, a user's for one request. */
export function deriveSecret(key: SealingKey, purpose: string): KeyObject {
  const secret = key.derived.get(purpose) ?? createSecretKey(derive(key, purpose))
  key.derived.set(purpose, secret)
  return secret
}

/** Formats sixteen bytes as a UUID. */
export const uuidOf = (bytes: Buffer) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
