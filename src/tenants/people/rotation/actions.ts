import type { App } from '../../../platform/app.ts'
import { keyIdOf } from '../../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../../platform/sealing/vault.ts'
import { decryptPerson, encryptPerson, hashEmail } from '../actions.ts'
import { decryptInvitation, encryptInvitation } from '../invitations.ts'
import * as store from '../store.ts'
import * as invitations from '../store-invitations.ts'

const BATCH_SIZE = 500

type Row = { id: string; org_id: string; sealed: Buffer }

/** Encrypts people and invitations with the current version of the root, and hashes their emails again. Returns how many there were. */
export async function reencryptPeople(app: App) {
  const people = await eachOfOthers(app, store.listAllPeople, async (row) => {
    const personal = decryptPerson(app, row)
    const change = { email_hash: hashEmail(app, personal.email), sealed: encryptPerson(app, row, personal) }
    await store.reencryptPerson(app.db, row.id, row.sealed, change)
  })
  const invited = await eachOfOthers(app, invitations.listAllInvitations, async (row) => {
    const invitee = decryptInvitation(app, row)
    const change = { email_hash: hashEmail(app, invitee.email), sealed: encryptInvitation(app, row, invitee) }
    await invitations.reencryptInvitation(app.db, row.id, row.sealed, change)
  })
  return people + invited
}

/** Rows that another version of the root encrypted. */
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
