import { methods, type Phase, phases, stepNames, stepsOf } from '../../../../src/contract/labs/lifecycle.ts'
import type { api } from '../../api.ts'
import { pageNumber } from '../../router.tsx'

type Filter = NonNullable<NonNullable<Parameters<typeof api.listOrders>[0]>['query']>

/** The steps of a phase across all collection methods. */
const stepsInPhase = (phase: Phase) => stepNames.filter((step) => methods.some((method) => stepsOf(method)[step]?.phase === phase))

export const stages = phases

const listFilters = ['order_type', 'order_activation_types'] as const
const singleFilters = [
  'interpretation',
  'user_id',
  'order_transaction_id',
  'start_date',
  'end_date',
  'updated_start_date',
  'updated_end_date',
  'order_key',
  'order_direction',
] as const

/** Query parameters that filter the list. */
export const filterNames = ['stage', 'status', 'is_critical', ...listFilters, ...singleFilters] as const

export const PAGE_SIZE = 25

export function buildFilter(search: URLSearchParams, text: string): Filter {
  const stage = search.get('stage')
  const steps = search.getAll('status')
  const status = steps.length ? steps : stages.includes(stage as Phase) ? stepsInPhase(stage as Phase) : []
  const texts = Object.fromEntries(singleFilters.flatMap((name) => (search.get(name) ? [[name, search.get(name)]] : [])))
  const lists = Object.fromEntries(listFilters.flatMap((name) => (search.getAll(name).length ? [[name, search.getAll(name)]] : [])))
  return {
    // The server validates the values, because a URL may contain anything.
    ...(texts as Partial<Filter>),
    ...(lists as Partial<Filter>),
    ...(text ? { search_input: text } : {}),
    ...(status.length ? { status } : {}),
    ...(search.get('is_critical') === 'true' ? { is_critical: true } : {}),
    page: pageNumber(search),
    size: PAGE_SIZE,
  }
}
