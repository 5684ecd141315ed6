import { createHmac, randomBytes } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { derive } from '../../platform/sealing/seal.ts'
import { personalOf } from './actions.ts'
import * as rules from './rules.ts'
import { base32, fromBase32, stepOf } from './rules-totp.ts'
import * as store from './store.ts'

const CODES = 10

/** Uses up a code of the second factor, or a recovery code; answers whether it was good. */
export async function useCode(app: App, person: store.PersonRow, code: string) {
  const secret = fromBase32(personalOf(app, person).totp_secret)
  const step = stepOf(secret, code, app.wall(), person.totp_step)
  if (step !== undefined) return (await store.takeStep(app.db, person.id, step)) !== undefined
  return (await store.takeRecoveryCode(app.db, person.id, hashOfCode(app, code))) !== undefined
}

/** New recovery codes in place of the old ones, in clear for this answer only. */
export async function newRecoveryCodes(app: App, person_id: string) {
  const codes = Array.from({ length: CODES }, () => rules.recoveryCode(base32(randomBytes(7))))
  await store.replaceRecoveryCodes(
    app.db,
    person_id,
    codes.map((code) => hashOfCode(app, code)),
  )
  return codes
}

const hashOfCode = (app: App, code: string) =>
  createHmac('sha256', derive(app.vault.root, 'recovery codes')).update(rules.plainCode(code)).digest()
