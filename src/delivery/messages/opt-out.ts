import { createHmac, timingSafeEqual } from 'node:crypto'
import { type App, inTransaction } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import { deriveSecret, type SealingKey, uuidOf } from '../../platform/sealing/seal.ts'
import * as store from './store.ts'

type Patient = { team_id: string; user_id: string }

const ID_BYTES = 16

const idBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

const signatureOf = (root: SealingKey, ids: Buffer) => createHmac('sha256', deriveSecret(root, 'unsubscribe links')).update(ids).digest()

/** The link in each message to a patient. It works without signing in, and for nothing else. */
export function unsubscribeUrl({ config, vault }: App, { team_id, user_id }: Patient, language: string) {
  const ids = Buffer.concat([idBytes(team_id), idBytes(user_id)])
  const token = Buffer.concat([ids, signatureOf(vault.root, ids)]).toString('base64url')
  return `${publicUrl(config)}/messages/unsubscribe?token=${token}&language=${language}`
}

/** The patient of a link. Undefined if Assay did not sign it. A link of an earlier root secret stays valid. */
export function patientOf({ vault }: Pick<App, 'vault'>, token: string): Patient | undefined {
  const bytes = Buffer.from(token, 'base64url')
  const ids = bytes.subarray(0, 2 * ID_BYTES)
  const signature = bytes.subarray(2 * ID_BYTES)
  const isSigned = vault.roots.some(({ key }) => {
    const expected = signatureOf(key, ids)
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  })
  return isSigned ? { team_id: uuidOf(ids.subarray(0, ID_BYTES)), user_id: uuidOf(ids.subarray(ID_BYTES)) } : undefined
}

/** Ends messages to the patient of a link, or lets them begin again. Returns whether the link is valid. */
export const changeOptOut = (app: App, token: string, wantsMessages: boolean) => {
  const patient = patientOf(app, token)
  if (!patient) return Promise.resolve(false)
  const { team_id, user_id } = patient
  return inTransaction(app, async ({ db, wall }) => {
    if (!wantsMessages) return store.insertOptOut(db, team_id, user_id, wall())
    await store.deleteOptOut(db, team_id, user_id)
    return true
  })
}
