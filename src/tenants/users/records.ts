import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { NewInsurance, NewUserInfo } from '../../contract/tenants/users.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { indexTerms, queryTerms, wordsOf } from '../../platform/sealing/blind-index.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { companyOf } from '../insurance/actions.ts'
import { keyOf, presentUsers, requireUser } from './actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Info = z.output<typeof NewUserInfo>
export type InsuranceIn = z.output<typeof NewInsurance>

/** Records the demographics of a user, sealed, with the blind index that finds them. */
export const putUserInfo = (app: App, { team_id }: TeamCaller, user_id: string, info: Info) =>
  inTransaction(app, async (app) => {
    rules.checkBirthDate('dob', info.dob, app.now().slice(0, 10))
    const user = await requireUser(app, team_id, user_id, store.lockUser)
    await recordInfo(app, { team_id, user_id, key: await keyOf(app, user) }, info)
    return info
  })

export async function getUserInfo(app: App, { team_id }: TeamCaller, user_id: string) {
  const user = await requireUser(app, team_id, user_id)
  const row = await store.findInfo(app.db, team_id, user_id)
  if (!row)
    throw problem('USER_INFO_NOT_FOUND', 'No demographics are recorded for this user; record them with PATCH /v2/user/{user_id}/info.')
  return open<Info>(await keyOf(app, user), infoPlace(user_id), row.sealed)
}

/** A user as a patient: its key, what is known of it, and how its team orders. */
export async function patientOf(app: App, team_id: string, user_id: string) {
  const user = rules.liveUser(await store.findPatient(app.db, team_id, user_id))
  const key = await keyOf(app, user)
  const info = user.info ? open<Info>(key, infoPlace(user_id), user.info) : undefined
  const insurance =
    user.insurance && user.insurance_id
      ? { id: user.insurance_id, ...open<InsuranceIn>(key, insurancePlace(user_id, user.insurance_id), user.insurance) }
      : undefined
  return { ...user, key, info, insurance }
}

/** Records demographics in the caller's transaction. */
export async function recordInfo(
  app: AppInTransaction,
  { team_id, user_id, key }: { team_id: string; user_id: string; key: SealingKey },
  info: Info,
) {
  await store.upsertInfo(app.db, { user_id, team_id, ...(await infoRow(app, team_id, user_id, key, info)), updated_at: app.now() })
}

/** Demographics as their row, sealed and indexed. */
export const infoRow = async (app: App, team_id: string, user_id: string, key: SealingKey, info: Info) => ({
  sealed: seal(key, infoPlace(user_id), info),
  terms: indexTerms(await teamSealingKey(app, team_id), rules.searchable(info)),
})

/** The index knows beginnings up to a length and may rarely collide, so what it finds is read and compared once more. */
export async function findPeople(app: App, { team_id }: TeamCaller, query: string) {
  const words = wordsOf(query)
  if (!words.length) return []
  const found = await store.searchByTerms(app.db, team_id, queryTerms(await teamSealingKey(app, team_id), query))
  const matching = []
  for (const { info, ...user } of found) {
    const has = rules.searchable(open<Info>(await keyOf(app, user), infoPlace(user.user_id), info)).flatMap(wordsOf)
    if (words.every((word) => has.some((known) => known.startsWith(word)))) matching.push(user)
  }
  return presentUsers(app, matching)
}

export const createInsurance = (app: App, { team_id }: TeamCaller, user_id: string, insurance: InsuranceIn) =>
  inTransaction(app, async (app) => {
    rules.checkBirthDate('insured.dob', insurance.insured.dob, app.now().slice(0, 10))
    const user = await requireUser(app, team_id, user_id, store.lockUser)
    await insertInsurance(app, user, await keyOf(app, user), insurance)
    return withCompany(app, team_id, insurance)
  })

/** Records an insurance in the caller's transaction and answers its id. */
export async function insertInsurance(
  app: App,
  { team_id, user_id }: { team_id: string; user_id: string },
  key: SealingKey,
  insurance: InsuranceIn,
) {
  const id = randomUUID()
  const sealed = seal(key, insurancePlace(user_id, id), insurance)
  await store.insertInsurance(app.db, { id, user_id, team_id, is_primary: insurance.is_primary, sealed, created_at: app.now() })
  return id
}

export async function getInsurance(app: App, { team_id }: TeamCaller, user_id: string, is_primary: boolean) {
  const user = await requireUser(app, team_id, user_id)
  const row = await store.latestInsurance(app.db, team_id, user_id, is_primary)
  if (!row)
    throw problem('INSURANCE_NOT_FOUND', 'No such insurance is recorded for this user; record one with POST /v2/user/{user_id}/insurance.')
  return withCompany(app, team_id, open<InsuranceIn>(await keyOf(app, user), insurancePlace(user_id, row.id), row.sealed))
}

/** The insurance that an order names, as it was recorded then. */
export async function insuranceOf(app: App, { team_id, user_id, key }: { team_id: string; user_id: string; key: SealingKey }, id: string) {
  const row = await store.findInsurance(app.db, team_id, user_id, id)
  return row && withCompany(app, team_id, open<InsuranceIn>(key, insurancePlace(user_id, id), row.sealed))
}

const withCompany = async (app: App, team_id: string, insurance: InsuranceIn) => ({
  ...insurance,
  company: await companyOf(app, team_id, insurance.payor_code),
})

const infoPlace = (user_id: string) => `user_info.sealed.${user_id}`
const insurancePlace = (user_id: string, id: string) => `user_insurances.sealed.${user_id}.${id}`
