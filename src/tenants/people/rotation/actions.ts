import { type App, inTransaction } from '../../../platform/app.ts'
import { isUniqueViolation } from '../../../platform/db/errors.ts'
import { keyIdOf } from '../../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../../platform/sealing/vault.ts'
import { auditRow, recordChange } from '../../audit/actions.ts'
import { decryptPerson, emailHashes, encryptPerson, hashEmail } from '../actions.ts'
import { decryptInvitation, encryptInvitation } from '../invitations.ts'
import { MAX_PEOPLE_PER_EMAIL } from '../rules.ts'
import * as store from '../store.ts'
import * as invitations from '../store-invitations.ts'

const BATCH_SIZE = 500

type Row = { id: string; org_id: string; sealed: Buffer }

/** Encrypts people and invitations with the current version of the root, and hashes their emails again. Returns how many there were. */
export async function reencryptPeople(app: App) {
  const people = await eachOfOthers(app, store.listAllPeople, (row) => reencryptPerson(app, row))
  const invited = await eachOfOthers(app, invitations.listAllInvitations, (row) => reencryptInvitation(app, row))
  return people + invited
}

async function reencryptPerson(app: App, row: Row) {
  const personal = decryptPerson(app, row)
  const change = { email_hash: hashEmail(app, personal.email), sealed: encryptPerson(app, row, personal) }
  const write = ({ db }: App) => store.reencryptPerson(db, row.id, row.sealed, change)
  await write(app).catch(async (error) => {
    if (!isUniqueViolation(error, 'people_email')) throw error
    await inTransaction(app, async (app) => {
      const [kept, ...others] = await store.findByEmail(app.db, emailHashes(app, personal.email), row.org_id, MAX_PEOPLE_PER_EMAIL)
      for (const { id } of others) {
        await store.deletePerson(app.db, row.org_id, id)
        const entry = { action: 'operator delete duplicate member', subject: `person_id:${id} kept:${kept?.id}`, status: 200 }
        await recordChange(app, auditRow(app, { kind: 'operator' }, entry))
      }
      if (kept?.id === row.id) await write(app)
    })
  })
}

async function reencryptInvitation(app: App, row: Row) {
  const invited = decryptInvitation(app, row)
  const change = { email_hash: hashEmail(app, invited.email), sealed: encryptInvitation(app, row, invited) }
  const write = ({ db }: App) => invitations.reencryptInvitation(db, row.id, row.sealed, change)
  await write(app).catch(async (error) => {
    if (!isUniqueViolation(error, 'invitations_email')) throw error
    await inTransaction(app, async (app) => {
      const [kept, ...others] = await invitations.lockByEmail(app.db, row.org_id, emailHashes(app, invited.email))
      for (const { id } of others) await invitations.deleteInvitation(app.db, row.org_id, id)
      if (kept?.id === row.id) await write(app)
    })
  })
}

/**
 * Rows that another version of the root encrypted. Two processes that use different versions do not notice that they add the
 * same email, so there can be two rows: the first account and the last invitation are kept.
 */
async function eachOfOthers(app: App, list: typeof store.listAllPeople, work: (row: Row) => Promise<void>) {
  let count = 0
  for (let after: string | undefined; ; ) {
    const rows: Row[] = await list(app.db, after, BATCH_SIZE)
    for (const row of rows.filter(({ org_id, sealed }) => keyIdOf(sealed) !== orgSealingKey(app, org_id).id)) {
      await work(row)
      count++
    }
    if (rows.length < BATCH_SIZE) return count
    after = rows.at(-1)?.id
  }
}
