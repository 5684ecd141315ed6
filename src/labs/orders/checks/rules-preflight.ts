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
export function correctOrder(sent: Json, faults: Finding[]): Json {
  const body = structuredClone(sent)
  for (const { path } of faults) correctField(body, placeholders, path)
  return body
}

function correctField(body: Json, good: Json, [name, ...rest]: Path) {
  if (typeof name !== 'string') return
  const inside = good[name]
  if (isObject(inside) && isObject(body[name]) && rest.length) correctField(body[name], inside, rest)
  else if (inside === undefined) delete body[name]
  else body[name] = structuredClone(inside)
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keeps the findings that do not depend on an invalid part. */
export const besideFaults = (findings: Finding[], faults: Finding[]) =>
  findings.filter(
    (found) =>
      !faults.some(({ path }) => isWithin(found.path, path) || isWithin(path, found.path) || (!found.status && found.path[0] === path[0])),
  )

const isWithin = (inner: Path, outer: Path) => outer.every((step, i) => inner[i] === step)

/** Returns the selection without the rejected part; undefined if nothing is left to resolve. */
export function withoutRejectedPart(
  { lab_test_id, order_set, collection_method, lab_account_id }: TestSelection,
  refusal: Problem,
): TestSelection | undefined {
  const part = findingsFrom(refusal)[0]?.path.join('.')
  const account = lab_account_id ?? order_set?.lab_account_id
  if (part === 'lab_account_id')
    return account ? { lab_test_id, order_set: order_set && { ...order_set, lab_account_id: null }, collection_method } : undefined
  if (part === 'order_set.add_on' && (lab_test_id || order_set?.lab_test_ids?.length))
    return { lab_test_id, order_set: { ...order_set, add_on: null }, collection_method, lab_account_id }
  const refused = (refusal.detail as { lab_test_ids?: string[] }).lab_test_ids
  if (part !== 'order_set.lab_test_ids' || !refused) return undefined
  const left = [...(lab_test_id ? [lab_test_id] : []), ...(order_set?.lab_test_ids ?? [])].filter((id) => !refused.includes(id))
  if (!left.length && !order_set?.add_on) return undefined
  return { order_set: { ...order_set, lab_test_ids: left }, collection_method, lab_account_id }
}
