import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto'

/** A key and its ID. The ID is part of every ciphertext, so a reader knows which key to fetch. */
export type SealingKey = {
  id: string
  bytes: Buffer
  /** The same key as a KeyObject, because Node is several times slower with raw bytes. */
  secret: KeyObject
  /** Derived keys by purpose, filled on first use. */
  derived: Map<string, KeyObject>
}

export const sealingKey = (id: string, bytes: Buffer): SealingKey => ({ id, bytes, secret: createSecretKey(bytes), derived: new Map() })

const VERSION = 1
const HEADER = 1 + 16
const IV = 12
const TAG = 16

export const newKey = () => sealingKey(randomUUID(), randomBytes(32))

/** AES-256-GCM. `associatedData` (table.column.row) is authenticated, so a ciphertext moved elsewhere does not decrypt. */
export function sealBytes(key: SealingKey, associatedData: string, plain: Buffer): Buffer {
  const header = Buffer.concat([Buffer.of(VERSION), idBytes(key.id)])
  const iv = randomBytes(IV)
  const cipher = createCipheriv('aes-256-gcm', key.secret, iv)
  cipher.setAAD(Buffer.concat([header, Buffer.from(associatedData)]))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([header, iv, body, cipher.getAuthTag()])
}

export function openBytes(key: SealingKey, associatedData: string, sealed: Buffer): Buffer {
  if (sealed[0] !== VERSION) throw new Error(`Encrypted in format ${sealed[0]}, which this version does not support`)
  if (keyIdOf(sealed) !== key.id) throw new Error('Encrypted with another key')
  const decipher = createDecipheriv('aes-256-gcm', key.secret, sealed.subarray(HEADER, HEADER + IV))
  decipher.setAAD(Buffer.concat([sealed.subarray(0, HEADER), Buffer.from(associatedData)]))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG))
  return Buffer.concat([decipher.update(sealed.subarray(HEADER + IV, sealed.length - TAG)), decipher.final()])
}

/** Encrypts one document. */
export const seal = (key: SealingKey, associatedData: string, document: unknown) =>
  sealBytes(key, associatedData, Buffer.from(JSON.stringify(document)))

export const open = <T>(key: SealingKey, associatedData: string, sealed: Buffer) => JSON.parse(openText(key, associatedData, sealed)) as T

/** Decrypts a document to its JSON text. */
export const openText = (key: SealingKey, associatedData: string, sealed: Buffer) => openBytes(key, associatedData, sealed).toString()

/** The ID of the key that decrypts the ciphertext. */
export const keyIdOf = (sealed: Buffer) => uuidOf(sealed.subarray(1, HEADER))

/** Derives a key for one purpose; it reveals nothing about the key it comes from. */
export const derive = (key: SealingKey, purpose: string) => Buffer.from(hkdfSync('sha256', key.secret, '', purpose, 32))

/** The same as a key object, kept with the key it comes from: a team's for the life of the process, a user's for one request. */
export function deriveSecret(key: SealingKey, purpose: string): KeyObject {
  const secret = key.derived.get(purpose) ?? createSecretKey(derive(key, purpose))
  key.derived.set(purpose, secret)
  return secret
}

const idBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

/** Formats sixteen bytes as a UUID. */
export const uuidOf = (bytes: Buffer) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
