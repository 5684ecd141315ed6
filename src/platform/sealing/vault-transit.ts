import { z } from 'zod'
import { setupProblem } from '../problem.ts'
import { SECOND } from '../time.ts'
import { type KeyEncryptionKey, packKey, unpackKey } from './key-encryption.ts'

const TIMEOUT_MS = 10 * SECOND

type Transit = {
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
  async wrap(id, bytes) {
    const { data } = await post(transit, 'encrypt', { plaintext: packKey(id, bytes) }, Encrypted)
    return Buffer.from(data.ciphertext)
  },
  async unwrap(id, wrapped) {
    const { data } = await post(transit, 'decrypt', { ciphertext: wrapped.toString() }, Decrypted)
    const key = unpackKey(id, data.plaintext)
    if (!key) throw setupProblem('Vault decrypted another value than the root secret of this database; restore root_keys from a backup')
    return key
  },
})

async function post<S extends z.ZodType>(transit: Transit, action: 'encrypt' | 'decrypt', body: object, shape: S): Promise<z.output<S>> {
  const { url, key, namespace, token } = transit
  const response = await fetch(`${url}/${action}/${encodeURIComponent(key)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-vault-token': token(), ...(namespace && { 'x-vault-namespace': namespace }) },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error & { cause?: { code?: string } }) => {
    throw setupProblem(`Vault cannot be reached at ${new URL(url).host} (${error.cause?.code ?? error.name}); check VAULT_TRANSIT_URL`)
  })
  const parsed = shape.safeParse(await response.json().catch(() => undefined))
  if (response.ok && parsed.success) return parsed.data
  throw setupProblem(`Vault did not ${action} with the key ${key} (status ${response.status}); ${remedyFor(response.status)}`)
}

/** A response of Vault may repeat what was sent, so errors have its status only. */
function remedyFor(status: number) {
  if (status === 403) return 'check that VAULT_TRANSIT_TOKEN is valid and that its policy allows encrypt and decrypt'
  if (status === 404) return 'check the path in VAULT_TRANSIT_URL'
  if (status === 400) return 'check that VAULT_TRANSIT_KEY is the key that encrypted this database'
  return 'check that Vault is unsealed and that VAULT_TRANSIT_URL leads to its transit engine'
}
