import { createHmac, randomBytes } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { derive } from '../../platform/sealing/seal.ts'
import { decryptPerson } from './actions.ts'
import * as rules from './rules.ts'
import { base32, findStep, fromBase32 } from './rules-totp.ts'
import * as store from './store.ts'

const RECOVERY_CODE_COUNT = 10

/** Consumes a TOTP code or a recovery code and returns whether it was valid. */
export async function useCode(app: App, person: store.PersonRow, code: string) {
  const secret = fromBase32(decryptPerson(app, person).totp_secret)
  const step = findStep(secret, code, app.wall(), person.totp_step)
  if (step !== undefined) return (await store.takeStep(app.db, person.id, step)) !== undefined
  return (await store.takeRecoveryCode(app.db, person.id, hashOfCode(app, code))) !== undefined
}

/** Replaces the recovery codes. The plain codes are returned only this once. */
export async function newRecoveryCodes(app: App, person_id: string) {
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, () => rules.recoveryCode(base32(randomBytes(7))))
  await store.replaceRecoveryCodes(
    app.db,
    person_id,
    codes.map((code) => hashOfCode(app, code)),
  )
  return codes
}

const hashOfCode = (app: App, code: string) =>
  createHmac('sha256', derive(app.vault.root, 'recovery codes')).update(rules.plainCode(code)).digest()
