import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { NewInsurance, NewUserInfo } from '../../contract/tenants/users.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { indexTerms, queryTerms, wordsOf } from '../../platform/sealing/blind-index.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { loadPayorCompany } from '../insurance/actions.ts'
import { lockUser, requireUser, unwrapUserKey } from './actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Info = z.output<typeof NewUserInfo>
type InsuranceInput = z.output<typeof NewInsurance>

/** Stores a user's demographics encrypted, with a blind index for search. */
export const putUserInfo = (app: App, { team_id }: TeamCaller, user_id: string, info: Info) =>
  inTransaction(app, async (app) => {
    rules.checkBirthDate('dob', info.dob, app.now().slice(0, 10))
    const user = await lockUser(app, team_id, user_id)
    await recordInfo(app, { team_id, user_id, key: await unwrapUserKey(app, user) }, info)
    return info
  })

export async function getUserInfo(app: App, { team_id }: TeamCaller, user_id: string) {
  const user = await requireUser(app, team_id, user_id)
  const row = await store.findInfo(app.db, team_id, user_id)
  if (!row) throw problem('USER_INFO_NOT_FOUND', 'This user has no demographics. Set them with PATCH /v2/user/{user_id}/info.')
  return open<Info>(await unwrapUserKey(app, user), infoAssociatedData(user_id), row.sealed)
}

/** Loads a user as a patient: encryption key, demographics, primary insurance and the team's order settings. */
export async function loadPatient(app: App, team_id: string, user_id: string) {
  const user = rules.requireLiveUser(await store.findPatient(app.db, team_id, user_id))
  const key = await unwrapUserKey(app, user)
  const info = user.info ? open<Info>(key, infoAssociatedData(user_id), user.info) : undefined
  const insurance =
    user.insurance && user.insurance_id
      ? { id: user.insurance_id, ...open<InsuranceInput>(key, insuranceAssociatedData(user_id, user.insurance_id), user.insurance) }
      : undefined
  return { ...user, key, info, insurance }
}

/** Stores demographics in the caller's transaction. */
export async function recordInfo(
  app: AppInTransaction,
  { team_id, user_id, key }: { team_id: string; user_id: string; key: SealingKey },
  info: Info,
) {
  await store.upsertInfo(app.db, { user_id, team_id, ...(await encryptInfo(app, team_id, user_id, key, info)), updated_at: app.now() })
}

/** Builds the encrypted and indexed columns. */
export const encryptInfo = async (app: App, team_id: string, user_id: string, key: SealingKey, info: Info) => ({
  sealed: seal(key, infoAssociatedData(user_id), info),
  terms: indexTerms(await teamSealingKey(app, team_id), rules.searchableTexts(info)),
})

/** The index holds prefixes up to a length and can collide, so each match is decrypted and compared. */
export async function findPeople(app: App, { team_id }: TeamCaller, query: string) {
  const words = wordsOf(query)
  if (!words.length) return []
  const found = await store.searchByTerms(app.db, team_id, queryTerms(await teamSealingKey(app, team_id), query))
  const matching = []
  for (const { info, ...user } of found) {
    const indexedWords = rules
      .searchableTexts(open<Info>(await unwrapUserKey(app, user), infoAssociatedData(user.user_id), info))
      .flatMap(wordsOf)
    if (words.every((word) => indexedWords.some((indexed) => indexed.startsWith(word)))) matching.push(user)
  }
  return matching
}

export const createInsurance = (app: App, { team_id }: TeamCaller, user_id: string, insurance: InsuranceInput) =>
  inTransaction(app, async (app) => {
    rules.checkBirthDate('insured.dob', insurance.insured.dob, app.now().slice(0, 10))
    const user = await lockUser(app, team_id, user_id)
    await insertInsurance(app, user, await unwrapUserKey(app, user), insurance)
    return withCompany(app, team_id, insurance)
  })

/** Stores an insurance in the caller's transaction and returns its ID. */
export async function insertInsurance(
  app: App,
  { team_id, user_id }: { team_id: string; user_id: string },
  key: SealingKey,
  insurance: InsuranceInput,
) {
  const id = randomUUID()
  const sealed = seal(key, insuranceAssociatedData(user_id, id), insurance)
  await store.insertInsurance(app.db, { id, user_id, team_id, is_primary: insurance.is_primary, sealed, created_at: app.now() })
  return id
}

export async function getInsurance(app: App, { team_id }: TeamCaller, user_id: string, is_primary: boolean) {
  const user = await requireUser(app, team_id, user_id)
  const row = await store.findLatestInsurance(app.db, team_id, user_id, is_primary)
  if (!row)
    throw problem(
      'INSURANCE_NOT_FOUND',
      `This user has no insurance with is_primary ${is_primary}. Record one with POST /v2/user/{user_id}/insurance.`,
    )
  return withCompany(
    app,
    team_id,
    open<InsuranceInput>(await unwrapUserKey(app, user), insuranceAssociatedData(user_id, row.id), row.sealed),
  )
}

/** Loads the insurance an order names, as it was when the order was placed. */
export async function loadInsurance(
  app: App,
  { team_id, user_id, key }: { team_id: string; user_id: string; key: SealingKey },
  id: string,
) {
  const row = await store.findInsurance(app.db, team_id, user_id, id)
  return row && withCompany(app, team_id, open<InsuranceInput>(key, insuranceAssociatedData(user_id, id), row.sealed))
}

const withCompany = async (app: App, team_id: string, insurance: InsuranceInput) => ({
  ...insurance,
  company: await loadPayorCompany(app, team_id, insurance.payor_code),
})

const infoAssociatedData = (user_id: string) => `user_info.sealed.${user_id}`
const insuranceAssociatedData = (user_id: string, id: string) => `user_insurances.sealed.${user_id}.${id}`
