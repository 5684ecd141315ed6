import { createHmac } from 'node:crypto'
import { type App, inTransaction } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import { isSameBytes } from '../../platform/sealing/same-bytes.ts'
import { deriveSecret, type SealingKey, uuidOf } from '../../platform/sealing/seal.ts'
import { auditRow, recordChange } from '../../tenants/audit/actions.ts'
import { orgOfTeam } from '../../tenants/teams/orgs.ts'
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
  const isSigned = vault.roots.some(({ key }) => isSameBytes(signatureOf(key, ids), signature))
  return isSigned ? { team_id: uuidOf(ids.subarray(0, ID_BYTES)), user_id: uuidOf(ids.subarray(ID_BYTES)) } : undefined
}

type OptOutChange = { wantsMessages: boolean; request_id: string }

/** Ends messages to a patient, or lets them begin again, and audits it. Returns whether the patient still exists. */
export const changeOptOut = (app: App, { team_id, user_id }: Patient, { wantsMessages, request_id }: OptOutChange) =>
  inTransaction(app, async (app) => {
    if (!(await store.findPatient(app.db, team_id, user_id))) return false
    const changed = await (wantsMessages
      ? store.deleteOptOut(app.db, team_id, user_id)
      : store.insertOptOut(app.db, team_id, user_id, app.wall()))
    if (changed) {
      const action = wantsMessages ? 'optInToMessages' : 'optOutOfMessages'
      const actor = { kind: 'visitor', org_id: await orgOfTeam(app, team_id) } as const
      await recordChange(app, auditRow(app, actor, { action, subject: `user_id:${user_id}`, status: 200, request_id, team_id }))
    }
    return true
  })
