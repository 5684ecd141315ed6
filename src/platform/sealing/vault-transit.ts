import { z } from 'zod'
import { setupProblem } from '../problem.ts'
import { SECOND } from '../time.ts'
import { type KeyEncryptionKey, type KeyStore, packKey, unpackKey } from './key-encryption.ts'

const TIMEOUT_MS = 10 * SECOND

export type Transit = {
  /** With the path of the secrets engine, such as `https://vault.example.com:8200/v1/transit`. */
  url: string
  key: string
  namespace: string | undefined
  /** Read for each request, because an agent may renew it. */
  token(): string
}

const Encrypted = z.object({ data: z.object({ ciphertext: z.string().min(1) }) })
const Decrypted = z.object({ data: z.object({ plaintext: z.string().min(1) }) })

/** A key-encryption key in the transit engine of HashiCorp Vault. It never leaves Vault. */
export const keyFromTransit = (transit: Transit): KeyEncryptionKey => ({
  name: `VAULT_TRANSIT_KEY ${transit.key}`,
  wrap: (id, bytes) => encrypt(transit, transit.key, id, bytes),
  unwrap: (id, wrapped) => decrypt(transit, transit.key, id, wrapped),
})

/** The other keys of the transit engine that begin with the name of the key. */
export function keysFromTransit(transit: Transit): KeyStore {
  const full = (name: string) => `${transit.key}-${name}`
  const exists = async (name: string) => (await send(transit, 'GET', 'keys', full(name), [404])).status !== 404
  return {
    async create(name) {
      await send(transit, 'POST', 'keys', full(name), [], { type: 'aes256-gcm96' })
    },
    wrap: (name, id, bytes) => encrypt(transit, full(name), id, bytes),
    unwrap: (name, id, wrapped) => decrypt(transit, full(name), id, wrapped),
    exists,
    async destroy(name) {
      if (!(await exists(name))) return
      await send(transit, 'POST', 'keys', `${full(name)}/config`, [], { deletion_allowed: true })
      await send(transit, 'DELETE', 'keys', full(name), [404])
      if (await exists(name)) throw setupProblem(`Vault still has the key ${full(name)} after deleting it; check its policy`)
    },
  }
}

async function encrypt(transit: Transit, key: string, id: string, bytes: Buffer) {
  const { body } = await send(transit, 'POST', 'encrypt', key, [], { plaintext: packKey(id, bytes) }, Encrypted)
  return Buffer.from(body.data.ciphertext)
}

async function decrypt(transit: Transit, key: string, id: string, wrapped: Buffer) {
  const { body } = await send(transit, 'POST', 'decrypt', key, [], { ciphertext: wrapped.toString() }, Decrypted)
  const bytes = unpackKey(id, body.data.plaintext)
  if (!bytes) throw setupProblem('Vault decrypted another value than the key of this database; restore the database from a backup')
  return bytes
}

type Action = 'encrypt' | 'decrypt' | 'keys'

/** Sends a request. A status of `accepted` is no failure. */
async function send<S extends z.ZodType = z.ZodUnknown>(
  { url, namespace, token }: Transit,
  method: 'GET' | 'POST' | 'DELETE',
  action: Action,
  key: string,
  accepted: number[],
  body?: object,
  shape?: S,
): Promise<{ status: number; body: z.output<S> }> {
  const response = await fetch(`${url}/${action}/${key}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-vault-token': token(), ...(namespace && { 'x-vault-namespace': namespace }) },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error & { cause?: { code?: string } }) => {
    throw setupProblem(`Vault cannot be reached at ${new URL(url).host} (${error.cause?.code ?? error.name}); check VAULT_TRANSIT_URL`)
  })
  const { status } = response
  const parsed = (shape ?? z.unknown()).safeParse(await response.json().catch(() => undefined))
  if (accepted.includes(status) || (response.ok && parsed.success)) return { status, body: parsed.data as z.output<S> }
  throw setupProblem(`Vault did not ${verbs[action]} the key ${key} (status ${status}); ${remedyFor(action, status)}`)
}

const verbs = { encrypt: 'encrypt with', decrypt: 'decrypt with', keys: 'manage' }

/** A response of Vault may repeat what was sent, so errors have its status only. */
function remedyFor(action: Action, status: number) {
  if (status === 403)
    return action === 'keys'
      ? 'check that VAULT_TRANSIT_TOKEN is valid and that its policy allows to create, read and delete the keys of epochs'
      : 'check that VAULT_TRANSIT_TOKEN is valid and that its policy allows encrypt and decrypt'
  if (status === 404) return 'check the path in VAULT_TRANSIT_URL'
  if (status === 400 && action !== 'keys') return 'check that VAULT_TRANSIT_KEY is the key that encrypted this database'
  return 'check that Vault is unsealed and that VAULT_TRANSIT_URL leads to its transit engine'
}
