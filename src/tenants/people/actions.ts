import { createHmac } from 'node:crypto'
import type { PersonRole } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { derive, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { boundTeamIds, checkTeamsFound } from '../teams/rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The encrypted fields of a person. Without a secret, the person signs in with single sign-on only. */
type PersonalFields = { name: string; email: string; totp_secret?: string | undefined; next_totp_secret?: string | undefined }

const associatedData = (id: string) => `people.sealed.${id}`

export const decryptPerson = (app: App, { id, org_id, sealed }: Pick<store.PersonRow, 'id' | 'org_id' | 'sealed'>) =>
  open<PersonalFields>(orgSealingKey(app, org_id, sealed), associatedData(id), sealed)

export const encryptPerson = (app: App, { id, org_id }: { id: string; org_id: string }, personal: PersonalFields) =>
  seal(orgSealingKey(app, org_id), associatedData(id), personal)

/** The keyed hash by which people and invitations are found. */
export const hashEmail = (app: App, email: string) => hashEmailWith(app.vault.root, email)

const hashEmailWith = (root: SealingKey, email: string) =>
  createHmac('sha256', derive(root, 'e-mail of people')).update(rules.normalizeEmail(email)).digest()

/** The hashes to look for. While the root secret is rotated, there are two. */
export const emailHashes = ({ vault }: App, email: string) =>
  vault.roots.filter(({ isRetired }) => !isRetired).map(({ key }) => hashEmailWith(key, email))

/** Loads the person behind a console session; undefined once the person is removed. */
export async function loadSessionPerson(app: App, id: string) {
  const person = await store.findPersonById(app.db, id)
  return person && { ...person, team_ids: person.every_team ? undefined : person.team_ids }
}

export async function findPersonName(app: App, id: string) {
  const person = await store.findPersonById(app.db, id)
  if (!person) return null
  const { name, email } = decryptPerson(app, person)
  return { id, name, email }
}

const MAX_ADMINISTRATORS = 50

/** The addresses of the organization's administrators, the earliest first. */
export const listAdministratorEmails = async (app: App, org_id: string) =>
  (await store.listAdministrators(app.db, org_id, MAX_ADMINISTRATORS)).map((person) => decryptPerson(app, person).email)

type ListQuery = { search_query?: string | null | undefined; next_cursor?: string | null | undefined }

/** Names are encrypted, so a search reads up to this many people and filters them. */
const MAX_SEARCHED_PEOPLE = 1000

export async function listMembers(app: App, { org_id }: ManagementCaller, { search_query, next_cursor }: ListQuery) {
  if (search_query) {
    const people = (await store.listPeople(app.db, org_id, { limit: MAX_SEARCHED_PEOPLE })).map((row) => presentPerson(app, row))
    return { members: people.filter(({ name, email }) => rules.matches(search_query, name, email)), next_cursor: null }
  }
  const page = pageAfter(next_cursor)
  const { rows, next_cursor: next } = pageOf(await store.listPeople(app.db, org_id, page), page, (row) => ({
    at: row.created_on,
    id: row.id,
  }))
  return { members: rows.map((row) => presentPerson(app, row)), next_cursor: next }
}

type MemberPatch = { role?: PersonRole | null | undefined; team_role_bindings?: { team_id: string }[] | null | undefined }

export const patchMember = (app: App, { org_id }: ManagementCaller, id: string, patch: MemberPatch) =>
  inTransaction(app, async (app) => {
    const person = await requirePerson(app, org_id, id)
    const scope = rules.teamScopeOf(patch.role ?? person.role, boundTeamIds(patch.team_role_bindings))
    await store.updatePerson(app.db, org_id, id, { role: scope.role, every_team: scope.every_team })
    checkTeamsFound(await store.bindTeams(app.db, org_id, id, scope.team_ids), scope.team_ids)
    return presentPerson(app, { ...person, ...scope })
  })

/** Deletes the person with their sessions, codes and team bindings; the audit log keeps the ID. */
export const deleteMember = (app: App, { org_id }: ManagementCaller, id: string) =>
  inTransaction(app, async (app) => {
    if (!(await store.deletePerson(app.db, org_id, id))) throw notFound()
    return { success: true }
  })

async function requirePerson(app: App, org_id: string, id: string) {
  const person = await store.findPerson(app.db, org_id, id)
  if (!person) throw notFound()
  return person
}

const notFound = () => problem('PERSON_NOT_FOUND', 'No member of your organization has this ID. List the members to find it.')

function presentPerson(app: App, row: store.PersonRow) {
  const { name, email } = decryptPerson(app, row)
  const { id, created_on, role, last_sign_in_at } = row
  return { id, name, email, created_on, role, last_sign_in_at, team_role_bindings: rules.bindingsOf(row) }
}
