import type { App } from '../app.ts'
import { open } from '../sealing/seal.ts'
import { orgSealingKey } from '../sealing/vault.ts'
import * as store from './store.ts'

/** What is personal of a person. */
export type Personal = { name: string; email: string; totp_secret: string }

export const placeOfPerson = (id: string) => `people.sealed.${id}`

export const personalOf = (app: App, { id, org_id, sealed }: Pick<store.PersonRow, 'id' | 'org_id' | 'sealed'>) =>
  open<Personal>(orgSealingKey(app, org_id), placeOfPerson(id), sealed)

/** Who a console session belongs to, or undefined once the person was removed. */
export async function personHolder(app: App, id: string) {
  const person = await store.findPersonById(app.db, id)
  return person && { ...person, team_ids: person.every_team ? undefined : person.team_ids }
}

export async function whoIs(app: App, id: string) {
  const person = await store.findPersonById(app.db, id)
  if (!person) return null
  const { name, email } = personalOf(app, person)
  return { id, name, email }
}
