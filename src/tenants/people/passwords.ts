import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { App } from '../../platform/app.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

type Parameters = { N: number; r: number; p: number }

/** At the usual cost about a fifth of a second and 32 MB for each guess. */
const today = (cost: number): Parameters => ({ N: 2 ** cost, r: 8, p: 3 })
const BYTES = 32

const made = (password: string, salt: Buffer, { N, r, p }: Parameters) =>
  derive(password.normalize('NFKC'), salt, BYTES, { N, r, p, maxmem: 256 * N * r })

const written = ({ N, r, p }: Parameters, salt: Buffer, hash: Buffer) =>
  ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')

/** Parameters, salt and hash, so that the parameters of today can be others tomorrow. */
export async function hashPassword({ config }: App, password: string) {
  const salt = randomBytes(16)
  const parameters = today(config.PASSWORD_COST)
  return written(parameters, salt, await made(password, salt, parameters))
}

export async function isPassword(kept: string, password: string) {
  const [, N, r, p, salt = '', hash = ''] = kept.split('$')
  const found = await made(password, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) })
  return timingSafeEqual(found, Buffer.from(hash, 'base64url'))
}

/** Of nobody: whoever has no account costs the same time as whoever has one. */
export const verifyDummyPassword = ({ config }: App) => written(today(config.PASSWORD_COST), randomBytes(16), randomBytes(BYTES))
