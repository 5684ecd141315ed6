import type { App } from '../app.ts'
import { currentRoot, type Root } from './roots.ts'
import { derive, keyIdOf, type SealingKey, sealingKey, uuidOf } from './seal.ts'

/** A key for data that belongs to no team. It derives from the current version of the root, or from the one that encrypted `sealed`. */
export function deploymentSealingKey({ vault }: Pick<App, 'vault'>, purpose: string, sealed?: Buffer): SealingKey {
  const current = keyOf(currentRoot(vault.roots), purpose)
  if (!sealed) return current
  const id = keyIdOf(sealed)
  return vault.roots.map((root) => keyOf(root, purpose)).find((key) => key.id === id) ?? current
}

const keyOf = ({ key }: Root, purpose: string) => sealingKey(uuidOf(derive(key, `${purpose}, ID`).subarray(0, 16)), derive(key, purpose))
