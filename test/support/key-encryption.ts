import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type KeyEncryption, keyFromText } from '../../src/platform/sealing/key-encryption.ts'
import { atEnd } from './at-end.ts'
import { newApiKey, newBytes } from './seeded.ts'
import { temporaryFolder } from './world.ts'

/** The key-encryption keys of these texts. */
export const textKeys = (first: string, ...others: string[]): KeyEncryption => ({
  keys: [keyFromText(first), ...others.map(keyFromText)],
})

type TransitKey = { secret: Buffer; deletion_allowed: boolean }

/** Stands in for the transit engine of Vault. */
export async function aTransit({ key = 'assay' } = {}) {
  const token = newApiKey('hvs.')
  const keys = new Map<string, TransitKey>([[key, { secret: newBytes(32), deletion_allowed: false }]])
  const received: string[] = []
  const server = createServer(async (request, response) => {
    received.push(request.url ?? '')
    const [, action = '', name = '', config] = /^\/v1\/transit\/(encrypt|decrypt|keys)\/([\w.-]+)(\/config)?$/.exec(request.url ?? '') ?? []
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}')
    const respond = (status: number, json: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    if (request.headers['x-vault-token'] !== token) return respond(403, { errors: ['permission denied'] })
    if (!action || (action !== 'keys' && request.method !== 'POST')) return respond(404, { errors: [] })
    const found = keys.get(name)
    if (action === 'keys') return manageKey(respond, keys, { method: request.method, name, found, config, body })
    if (!found) return respond(400, { errors: ['encryption key not found'] })
    try {
      const { secret } = found
      respond(200, {
        data: action === 'encrypt' ? { ciphertext: encrypt(secret, body.plaintext) } : { plaintext: decrypt(secret, body.ciphertext) },
      })
    } catch {
      respond(400, { errors: ['cipher: message authentication failed'] })
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  atEnd(close)
  const VAULT_TRANSIT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/transit`
  return { token, received, keys, close, env: { VAULT_TRANSIT_URL, VAULT_TRANSIT_KEY: key, VAULT_TRANSIT_TOKEN: token } }
}

type KeyRequest = { method: string | undefined; name: string; found: TransitKey | undefined; config: string | undefined; body: object }

/** Like Vault, deletes only a key whose deletion was allowed before. */
function manageKey(respond: (status: number, json: unknown) => void, keys: Map<string, TransitKey>, request: KeyRequest) {
  const { method, name, found, config, body } = request
  if (method === 'POST' && !config) {
    if (!found) keys.set(name, { secret: newBytes(32), deletion_allowed: false })
    return respond(200, {})
  }
  if (!found) return respond(404, { errors: [] })
  if (config) Object.assign(found, body)
  if (method !== 'DELETE') return respond(200, { data: { name } })
  if (!found.deletion_allowed) return respond(400, { errors: ['deletion is not allowed for this key'] })
  keys.delete(name)
  respond(200, {})
}

function encrypt(secret: Buffer, plaintext: string) {
  const iv = newBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secret, iv)
  const body = Buffer.concat([cipher.update(Buffer.from(plaintext, 'base64')), cipher.final()])
  return `vault:v1:${Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64')}`
}

function decrypt(secret: Buffer, ciphertext: string) {
  const bytes = Buffer.from(ciphertext.replace('vault:v1:', ''), 'base64')
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64')
}

/** A program for ENCRYPTION_KEY_COMMAND. `body` is JavaScript with `mode`, `line` and `wrap` and `unwrap` of a text. */
export function aKeyProgram(body = 'console.log(mode === "wrap" ? wrap(line) : unwrap(line))') {
  const path = join(temporaryFolder(), 'key-program')
  const secret = createHash('sha256').update(path).digest('hex')
  writeFileSync(
    path,
    `#!${process.execPath}
const { createCipheriv, createDecipheriv } = require('node:crypto')
const [secret, iv] = [Buffer.from('${secret}', 'hex'), Buffer.alloc(16)]
const wrap = (text) => { const c = createCipheriv('aes-256-cbc', secret, iv); return 'program:' + c.update(text, 'utf8', 'hex') + c.final('hex') }
const unwrap = (text) => { const c = createDecipheriv('aes-256-cbc', secret, iv); return c.update(text.slice(8), 'hex', 'utf8') + c.final('utf8') }
const [mode, line] = [process.argv[2], require('node:fs').readFileSync(0, 'utf8').trim()]
${body}
`,
    { mode: 0o700 },
  )
  return path
}
