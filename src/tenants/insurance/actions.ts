import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { NewPayor } from '../../contract/tenants/insurance.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const MAX_RESULTS = 50

export const searchPayors = async (app: App, { team_id }: TeamCaller, filter: store.PayorFilter) =>
  (await store.searchPayors(app.db, team_id, filter, MAX_RESULTS)).map(presentPayor)

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
    return presentPayor(await store.insertTeamPayor(app.db, row))
  })

/** Upserts catalog payors by code in the caller's transaction. */
export const putPayors = (app: AppInTransaction, payors: store.CatalogPayor[]) => store.upsertPayors(app.db, payors)

/** Upserts catalog ICD-10 codes in the caller's transaction. */
export const putIcdCodes = (app: AppInTransaction, codes: store.IcdCode[]) => store.upsertIcdCodes(app.db, codes)

export const findPayor = (app: App, team_id: string, payor_code: string) => store.findPayor(app.db, team_id, payor_code)

/** Gap 9: a payor_code that neither the catalog nor the team has serves as the name. */
export async function loadPayorCompany(app: App, team_id: string, payor_code: string) {
  const payor = await store.findPayor(app.db, team_id, payor_code)
  return { name: payor?.name ?? payor_code, address: addressOf(payor?.org_address) }
}

export const searchDiagnoses = async (app: App, query: string) =>
  (await store.searchIcdCodes(app.db, query.trim(), MAX_RESULTS)).map(({ code, label }) => ({
    diagnosis_code: code,
    description: label,
    is_secondary: false,
  }))

/** Adds each code's label, or null if the catalog does not know the code. */
export async function describeCodes(app: App, codes: string[]) {
  const labels = await store.findIcdCodes(app.db, codes)
  return codes.map((code) => ({ code, description: labels.find((row) => row.code === code)?.label ?? null }))
}

/** Gap 35: only the format is checked. Assay has no table of mutually exclusive codes, so it reports no violations. */
export async function validateIcdCodes(codes: string[]) {
  const errors = rules.icdErrors(codes)
  return { valid: !errors.length, errors, violations: [], warnings: [] }
}

type Address = { first_line: string; second_line?: string | null; country: string; zip: string; city: string; state: string }

const emptyAddress: Address = { first_line: '', second_line: '', country: '', zip: '', city: '', state: '' }

/** `createPayor` stores the contract's address; catalog payors have none. */
const addressOf = (stored: Record<string, unknown> | null | undefined) => (stored as Address | null | undefined) ?? emptyAddress

const presentPayor = (payor: {
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
