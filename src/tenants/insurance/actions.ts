import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { NewPayor } from '../../contract/tenants/insurance.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const FOUND_AT_MOST = 50

export const searchPayors = async (app: App, { team_id }: TeamCaller, filter: store.PayorFilter) =>
  (await store.searchPayors(app.db, team_id, filter, FOUND_AT_MOST)).map(shown)

export const searchPayorsByBody = async (
  app: App,
  caller: TeamCaller,
  query: store.PayorFilter & { provider_id?: string | null | undefined },
) =>
  (await searchPayors(app, caller, { ...query, provider_payor_id: query.provider_id })).map((payor) => ({
    ...payor,
    code: payor.payor_code,
  }))

export const createPayor = (app: App, { team_id }: TeamCaller, { name, address, provider, provider_payor_id }: z.output<typeof NewPayor>) =>
  inTransaction(app, async (app) => {
    const payor_code = `TEAM-${randomBytes(5).toString('hex').toUpperCase()}`
    const row = { payor_code, team_id, name, org_address: JSON.stringify(address), provider, provider_payor_id }
    return shown(await store.insertPayor(app.db, row))
  })

/** Writes payors of the catalog over those with the same code, in the caller's transaction. */
export const putPayors = (app: AppInTransaction, payors: store.SharedPayor[]) => store.upsertPayors(app.db, payors)

/** Writes ICD-10 codes of the catalog over those with the same code, in the caller's transaction. */
export const putIcdCodes = (app: AppInTransaction, codes: store.IcdCode[]) => store.upsertIcdCodes(app.db, codes)

export const findPayor = (app: App, team_id: string, payor_code: string) => store.findPayor(app.db, team_id, payor_code)

/** The company behind a payor_code. Gap 9: one that neither the catalogue nor the team knows is named by its code. */
export async function companyOf(app: App, team_id: string, payor_code: string) {
  const payor = await store.findPayor(app.db, team_id, payor_code)
  return { name: payor?.name ?? payor_code, address: addressOf(payor?.org_address) }
}

export const searchDiagnoses = async (app: App, query: string) =>
  (await store.searchIcdCodes(app.db, query.trim(), FOUND_AT_MOST)).map(({ code, label }) => ({
    diagnosis_code: code,
    description: label,
    is_secondary: false,
  }))

/** Codes with what they stand for, where the catalogue knows it. */
export async function describeCodes(app: App, codes: string[]) {
  const known = await store.findIcdCodes(app.db, codes)
  return codes.map((code) => ({ code, description: known.find((one) => one.code === code)?.label ?? null }))
}

/** Gap 35: the format decides. There is no table of codes that exclude each other, so there are no violations. */
export async function validateIcdCodes(codes: string[]) {
  const errors = rules.icdFaults(codes)
  return { valid: !errors.length, errors, violations: [], warnings: [] }
}

type Address = { first_line: string; second_line?: string | null; country: string; zip: string; city: string; state: string }

const noAddress: Address = { first_line: '', second_line: '', country: '', zip: '', city: '', state: '' }

/** Written from the contract's address by createPayor; the catalogue's payors have none. */
const addressOf = (stored: Record<string, unknown> | null | undefined) => (stored as Address | null | undefined) ?? noAddress

const shown = (payor: {
  payor_code: string
  team_id: string | null
  name: string
  aliases: string[]
  org_address: Record<string, unknown> | null
}) => ({
  payor_code: payor.payor_code,
  name: payor.name,
  aliases: payor.aliases,
  org_address: addressOf(payor.org_address),
  source: payor.team_id ? 'team' : 'platform',
})
