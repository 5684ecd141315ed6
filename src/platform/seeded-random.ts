import { createHash } from 'node:crypto'

/** Numbers from 0 up to but not including 1. The same seed gives the same numbers on every machine. */
export type Random = () => number

export function seededRandom(...seed: string[]): Random {
  let block = sha256(JSON.stringify(seed))
  let at = 0
  return () => {
    if (at + 6 > block.length) {
      block = sha256(block)
      at = 0
    }
    at += 6
    return block.readUIntBE(at - 6, 6) / 2 ** 48
  }
}

const sha256 = (of: string | Buffer) => createHash('sha256').update(of).digest()

/** An approximately normal value around 0 with a standard deviation of 1, from -3 to 3. */
export const randomNormal = (random: Random) => (random() + random() + random() - 1.5) * 2

export const randomInteger = (random: Random, from: number, to: number) => from + Math.floor(random() * (to - from + 1))

export const randomItem = <T>(random: Random, list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
