import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { App } from '../../platform/app.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

type Parameters = { N: number; r: number; p: number }

/** At the default cost, each guess takes about 0.2 s and 32 MB. */
const parametersFor = (cost: number): Parameters => ({ N: 2 ** cost, r: 8, p: 3 })
const HASH_BYTES = 32

const deriveHash = (password: string, salt: Buffer, { N, r, p }: Parameters) =>
  derive(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r })

const formatHash = ({ N, r, p }: Parameters, salt: Buffer, hash: Buffer) =>
  ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')

/** The result holds parameters, salt and hash, so the cost can change later. */
export async function hashPassword({ config }: App, password: string) {
  const salt = randomBytes(16)
  const parameters = parametersFor(config.PASSWORD_COST)
  return formatHash(parameters, salt, await deriveHash(password, salt, parameters))
}

export async function verifyPassword(stored: string, password: string) {
  const [, N, r, p, salt = '', hash = ''] = stored.split('$')
  const derived = await deriveHash(password, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) })
  return timingSafeEqual(derived, Buffer.from(hash, 'base64url'))
}

/** Checked for an unknown email, so a sign-in takes equally long whether or not the account exists. */
export const dummyPasswordHash = ({ config }: App) =>
  formatHash(parametersFor(config.PASSWORD_COST), randomBytes(16), randomBytes(HASH_BYTES))
