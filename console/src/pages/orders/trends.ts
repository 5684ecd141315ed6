import { api } from '../../api.ts'
import type { Order } from './list.tsx'

export type Trends = Record<string, { at: string; value: number }[]>

const MAX_EARLIER_ORDERS = 8

/** Numeric results of the user's earlier orders by measurement, oldest first. */
export async function loadTrends(order: Order): Promise<Trends> {
  const { orders } = await api.listOrders({
    query: { user_id: order.user_id, end_date: order.created_at, status: ['completed', 'corrected'], size: MAX_EARLIER_ORDERS + 1 },
  })
  const earlier = orders.filter(({ id }) => id !== order.id).reverse()
  const reports = await Promise.all(earlier.map(({ id, created_at }) => loadNumericResults(id, created_at)))
  const trends: Trends = {}
  for (const { slug, ...point } of reports.flat()) trends[slug] = [...(trends[slug] ?? []), point]
  return trends
}

const loadNumericResults = (order_id: string, at: string) =>
  api.getResults({ params: { order_id } }).then(
    ({ results }) => results.flatMap(({ slug, type, value }) => (type === 'numeric' && value !== null ? [{ slug, at, value }] : [])),
    () => [],
  )
