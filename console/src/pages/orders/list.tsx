import { useCallback } from 'preact/hooks'
import { api } from '../../api.ts'
import { isSandbox } from '../../clock.ts'
import { type TeamEvent, useEvents } from '../../event-stream.ts'
import { formatCount, methodLabels, shortId } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link, pageNumber, setSearchParams, useSearchParams } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { Button, Card, EmptyState, Id, Time } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, Pager, PastLastPage, QueryView, Table } from '../../ui/table.tsx'
import { clearFilters, OrderFilters } from './filter-bar.tsx'
import { buildFilter, filterNames, PAGE_SIZE } from './filters.ts'
import { PlaceOrderLink } from './place-order-link.tsx'
import { OrderInterpretation, OrderStatus } from './status.tsx'

type Page = Awaited<ReturnType<typeof api.listOrders>>
export type Order = Page['orders'][number]

export function Orders() {
  const search = useSearchParams()
  const text = useObservable(searches.orders)
  const orders = useQuery(`orders?${search}&${text}`, () => api.listOrders({ query: buildFilter(search, text) }))
  useEvents(useCallback((event: TeamEvent) => void (event.event_type.startsWith('labtest.') && refresh('orders')), []))
  const isFiltered = Boolean(text) || filterNames.some((name) => search.has(name))
  return (
    <>
      <PageHeader title="Orders" actions={<PlaceOrderLink />} />
      <Card bare label="Orders">
        <OrderFilters search={search} />
        <QueryView
          query={orders}
          lines={10}
          isEmpty={({ orders }) => !orders.length}
          empty={pageNumber(search) > 1 ? <PastLastPage /> : isFiltered ? <NoMatches /> : <NoOrders />}
        >
          {(page) => (
            <>
              <OrderTable orders={page.orders} />
              <Pages page={page} />
            </>
          )}
        </QueryView>
      </Card>
    </>
  )
}

const columns: Column<Order>[] = [
  {
    name: 'Test',
    cell: (order) => (
      <>
        {order.lab_test.name}
        <span class="only-narrow small faint">
          {patientName(order)}
          <br />
          <Time at={order.created_at} />
        </span>
      </>
    ),
  },
  { name: 'Patient', wide: true, cell: (order) => patientName(order) },
  { name: 'Status', cell: (order) => <OrderStatus status={order.last_event.status} /> },
  { name: 'Result', wide: true, cell: (order) => <OrderInterpretation value={order} /> },
  { name: 'Collection method', wide: true, cell: (order) => methodLabels[order.details.type] ?? order.details.type },
  { name: 'Order ID', wide: true, cell: (order) => <Id id={order.id} what="order ID" /> },
  { name: 'Created', wide: true, right: true, cell: (order) => <Time at={order.created_at} /> },
]

const patientName = ({ patient_details: patient, shipping_details: shipping, user_id }: Order) =>
  [patient?.first_name, patient?.last_name].filter(Boolean).join(' ') || shipping?.receiver_name || `User ${shortId(user_id)}`

/** `isSingleUser` hides columns that repeat the user. */
export const OrderTable = ({ orders, isSingleUser = false }: { orders: Order[]; isSingleUser?: boolean }) => (
  <Table
    label="Orders"
    rows={orders}
    columns={isSingleUser ? columns.filter(({ name }) => name !== 'Patient' && name !== 'Collection method') : columns}
    keyOf={(order) => order.id}
    to={(order) => `/orders/${order.id}`}
  />
)

function Pages({ page: { page, total, total_is_lower_bound, orders } }: { page: Page }) {
  const from = (page - 1) * PAGE_SIZE + 1
  const to = from + orders.length - 1
  const goToPage = (to: number) => () => setSearchParams({ page: to > 1 ? String(to) : null })
  const hasMore = total_is_lower_bound || to < total
  return (
    <Pager
      text={`${formatCount(from)}–${formatCount(to)} of ${formatCount(total)}${total_is_lower_bound ? '+' : ''}`}
      onPrevious={page > 1 ? goToPage(page - 1) : undefined}
      onNext={hasMore && orders.length ? goToPage(page + 1) : undefined}
    />
  )
}

const NoOrders = () => (
  <EmptyState
    title="No orders yet"
    actions={
      <>
        <PlaceOrderLink />
        <Link class="button" to="/users">
          View users
        </Link>
      </>
    }
  >
    Place a lab order for a user here or with POST /v3/order.
    {isSandbox() && ' You can then simulate its results in the sandbox.'}
  </EmptyState>
)

const NoMatches = () => (
  <EmptyState title="No matching orders" actions={<Button onClick={clearFilters}>Clear filters</Button>}>
    Search matches the beginning of a patient name, order ID, user ID or specimen ID.
  </EmptyState>
)
