import { createHash } from 'node:crypto'
import * as seeded from '../../src/platform/seeded-random.ts'

export const DEFAULT_SEED = 'assay'

/** Every test file derives its values from this seed and its name, so runs repeat and no two files share values. */
export const SEED = process.env['TEST_SEED'] || DEFAULT_SEED

let file = 'outside a test file'
let source = seeded.seededRandom(SEED, file)
const counts = new Map<string, number>()

/** Runs once per test file, before it is loaded. */
export function seedFile(name: string) {
  file = name
  source = seeded.seededRandom(SEED, name)
  counts.clear()
}

/** Counts the things of a kind that this test file created. */
export function nextNumber(kind: string) {
  const next = (counts.get(kind) ?? 0) + 1
  counts.set(kind, next)
  return next
}

const random: seeded.Random = () => source()

export const randomInteger = (from: number, to: number) => seeded.randomInteger(random, from, to)

const randomItem = <T>(list: readonly T[]) => seeded.randomItem(random, list) as T

export const newBytes = (length: number) => Buffer.from(Array.from({ length }, () => randomInteger(0, 255)))

/** A version 4 UUID. */
export function newUuid(): string {
  const bytes = newBytes(16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

const newText = (length: number) => Array.from({ length }, () => randomItem([...LETTERS])).join('')

/** A key in the format of the service. */
export const newApiKey = (prefix: string) => prefix + newText(46)

export const newWebhookSecret = () => `whsec_${newBytes(30).toString('base64')}`

/** A short tag for database names, unique per test file. */
export const fileTag = () => createHash('sha256').update(file).digest('hex').slice(0, 10)

/** For libraries that take their seed as a number. */
export const seedNumber = (seed = SEED) =>
  createHash('sha256')
    .update(JSON.stringify([seed, file]))
    .digest()
    .readInt32BE()
