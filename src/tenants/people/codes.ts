import { createHmac, randomBytes } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { derive, type SealingKey } from '../../platform/sealing/seal.ts'
import { decryptPerson } from './actions.ts'
import * as rules from './rules.ts'
import { findStep, fromBase32, toBase32 } from './rules-totp.ts'
import * as store from './store.ts'

const RECOVERY_CODE_COUNT = 10

/** Consumes a TOTP code or a recovery code and returns whether it was valid. */
export async function consumeCode(app: App, person: store.PersonRow, code: string) {
  const { totp_secret } = decryptPerson(app, person)
  if (!totp_secret) return false
  const step = findStep(fromBase32(totp_secret), code, app.wall(), person.totp_step)
  if (step !== undefined) return (await store.takeStep(app.db, person.id, step)) !== undefined
  return (await store.takeRecoveryCode(app.db, person.id, hashesOfCode(app, code))) !== undefined
}

/** Replaces the recovery codes. The plain codes are returned only this once. */
export async function replaceRecoveryCodes(app: App, person_id: string) {
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, () => rules.formatRecoveryCode(toBase32(randomBytes(7))))
  await store.replaceRecoveryCodes(
    app.db,
    person_id,
    codes.map((code) => hashCode(app, code)),
  )
  return codes
}

const hashCode = (app: App, code: string) => hashCodeWith(app.vault.root, code)

/** Codes are not known, so they keep the hash of the version of the root that they were made with. */
const hashesOfCode = ({ vault }: App, code: string) => vault.roots.map(({ key }) => hashCodeWith(key, code))

const hashCodeWith = (root: SealingKey, code: string) =>
  createHmac('sha256', derive(root, 'recovery codes')).update(rules.normalizeCode(code)).digest()
