import type { Insertable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type InvitationRow = NonNullable<Awaited<ReturnType<typeof findByToken>>>

const pendingInvitations = (db: Db, now: string) =>
  db
    .selectFrom('invitations')
    .innerJoin('orgs', 'orgs.id', 'invitations.org_id')
    .selectAll('invitations')
    .select('orgs.name as org_name')
    .where('invitations.expires_at', '>', now)

export const findByToken = (db: Db, token_hash: Buffer, now: string) =>
  pendingInvitations(db, now).where('token_hash', '=', token_hash).executeTakeFirst()

/** Serializes concurrent acceptances of one invitation. */
export const lockByToken = (db: Db, token_hash: Buffer, now: string) =>
  pendingInvitations(db, now).where('token_hash', '=', token_hash).forUpdate('invitations').executeTakeFirst()

export const listInvitations = (db: Db, org_id: string, now: string, page: Page) =>
  pendingInvitations(db, now)
    .where('invitations.org_id', '=', org_id)
    .$call(ascendingPage(page, 'invitations.invited_at', 'invitations.id'))
    .execute()

/** The newest is first. There are several only if they were created with different versions of the root secret. */
export const lockByEmail = (db: Db, org_id: string, email_hashes: Buffer[]) =>
  db
    .selectFrom('invitations')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('email_hash', 'in', email_hashes)
    .orderBy('expires_at', 'desc')
    .orderBy('id')
    .forUpdate()
    .execute()

export const listAllInvitations = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('invitations')
    .select(['id', 'org_id', 'sealed'])
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .orderBy('id')
    .limit(limit)
    .execute()

/** Changes nothing if the row was written again meanwhile. */
export const reencryptInvitation = (db: Db, id: string, before: Buffer, change: { email_hash: Buffer; sealed: Buffer }) =>
  db.updateTable('invitations').set(change).where('id', '=', id).where('sealed', '=', before).execute()

type NewInvitation = Insertable<Tables['invitations']>

export const insertInvitation = (db: Db, row: NewInvitation) => db.insertInto('invitations').values(row).execute()

export const deleteInvitation = (db: Db, org_id: string, id: string) =>
  db.deleteFrom('invitations').where('org_id', '=', org_id).where('id', '=', id).returning('id').executeTakeFirst()

export const deleteExpiredInvitations = (db: Db, now: string) => db.deleteFrom('invitations').where('expires_at', '<=', now).execute()
