import type { Problem } from '../../../platform/problem.ts'
import { type Finding, findingsFrom } from './rules-findings.ts'
import type { TestSelection } from './rules-tests.ts'

type Json = Record<string, unknown>
type Path = Finding['path']

/** Values that pass every check, for the required parts of an order. */
const placeholders: Json = {
  user_id: '00000000-0000-4000-8000-000000000000',
  patient_details: {
    first_name: 'A',
    last_name: 'A',
    dob: '1980-01-01',
    gender: 'unknown',
    phone_number: '+12025550100',
    email: 'a@example.org',
  },
  patient_address: { first_line: '1', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
}

/** Returns the body with its invalid parts removed, or replaced by placeholders if they are required. */
export function correctOrder(body: Json, faults: Finding[]): Json {
  const corrected = structuredClone(body)
  for (const { path } of faults) correctField(corrected, placeholders, path)
  return corrected
}

function correctField(body: Json, placeholders: Json, [name, ...rest]: Path) {
  if (typeof name !== 'string') return
  const placeholder = placeholders[name]
  if (isObject(placeholder) && isObject(body[name]) && rest.length) correctField(body[name], placeholder, rest)
  else if (placeholder === undefined) delete body[name]
  else body[name] = structuredClone(placeholder)
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keeps the findings that do not depend on an invalid part. */
export const findingsBesideFaults = (findings: Finding[], faults: Finding[]) =>
  findings.filter(
    (finding) =>
      !faults.some(
        ({ path }) => isWithin(finding.path, path) || isWithin(path, finding.path) || (!finding.status && finding.path[0] === path[0]),
      ),
  )

const isWithin = (inner: Path, outer: Path) => outer.every((step, i) => inner[i] === step)

/** Returns the selection without the rejected part; undefined if nothing is left to resolve. */
export function withoutRejectedPart(
  { lab_test_id, order_set, collection_method, lab_account_id }: TestSelection,
  rejection: Problem,
): TestSelection | undefined {
  const part = findingsFrom(rejection)[0]?.path.join('.')
  const account = lab_account_id ?? order_set?.lab_account_id
  if (part === 'lab_account_id')
    return account ? { lab_test_id, order_set: order_set && { ...order_set, lab_account_id: null }, collection_method } : undefined
  if (part === 'order_set.add_on' && (lab_test_id || order_set?.lab_test_ids?.length))
    return { lab_test_id, order_set: { ...order_set, add_on: null }, collection_method, lab_account_id }
  const rejectedIds = (rejection.detail as { lab_test_ids?: string[] }).lab_test_ids
  if (part !== 'order_set.lab_test_ids' || !rejectedIds) return undefined
  const remaining = [...(lab_test_id ? [lab_test_id] : []), ...(order_set?.lab_test_ids ?? [])].filter((id) => !rejectedIds.includes(id))
  if (!remaining.length && !order_set?.add_on) return undefined
  return { order_set: { ...order_set, lab_test_ids: remaining }, collection_method, lab_account_id }
}
