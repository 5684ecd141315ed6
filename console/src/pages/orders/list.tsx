import { useCallback } from 'preact/hooks'
import { api } from '../../api.ts'
import { type Told, useEvents } from '../../live.ts'
import { useStore } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link, pageIn, setSearch, useSearch } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { Button, Card, Empty, Id, Time } from '../../ui/basics.tsx'
import { Head } from '../../ui/head.tsx'
import { type Column, Loaded, Pager, PastEnd, Table } from '../../ui/table.tsx'
import { count, methodWords, short } from '../../words.ts'
import { clearFilters, OrderFilters } from './filter-bar.tsx'
import { filterNames, filterOf, SIZE } from './filters.ts'
import { PlaceLink } from './place-link.tsx'
import { OrderStatus, Reading } from './status.tsx'

type Page = Awaited<ReturnType<typeof api.listOrders>>
export type Order = Page['orders'][number]

export function Orders() {
  const search = useSearch()
  const text = useStore(searches.orders)
  const orders = useQuery(`orders?${search}&${text}`, () => api.listOrders({ query: filterOf(search, text) }))
  useEvents(useCallback((told: Told) => void (told.event_type.startsWith('labtest.') && refresh('orders')), []))
  const isFiltered = Boolean(text) || filterNames.some((name) => search.has(name))
  return (
    <>
      <Head title="Orders" actions={<PlaceLink />} />
      <Card bare label="Orders">
        <OrderFilters search={search} />
        <Loaded
          of={orders}
          lines={10}
          isEmpty={({ orders }) => !orders.length}
          empty={pageIn(search) > 1 ? <PastEnd /> : isFiltered ? <NothingFound /> : <NoOrders />}
        >
          {(page) => (
            <>
              <OrderTable orders={page.orders} />
              <Pages page={page} />
            </>
          )}
        </Loaded>
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
          {nameOf(order)} · <Time at={order.created_at} />
        </span>
      </>
    ),
  },
  { name: 'Patient', wide: true, cell: (order) => nameOf(order) },
  { name: 'Status', cell: (order) => <OrderStatus status={order.last_event.status} /> },
  { name: 'Result', wide: true, cell: (order) => <Reading of={order} /> },
  { name: 'Collection', wide: true, cell: (order) => methodWords[order.details.type] ?? order.details.type },
  { name: 'Order', wide: true, cell: (order) => <Id id={order.id} what="order id" /> },
  { name: 'Created', wide: true, right: true, cell: (order) => <Time at={order.created_at} /> },
]

const nameOf = ({ patient_details: patient, shipping_details: shipping, user_id }: Order) =>
  [patient?.first_name, patient?.last_name].filter(Boolean).join(' ') || shipping?.receiver_name || `User ${short(user_id)}`

/** `ofOne`: all of them are of one user, whose name need not be repeated. */
export const OrderTable = ({ orders, ofOne = false }: { orders: Order[]; ofOne?: boolean }) => (
  <Table
    label="Orders"
    rows={orders}
    columns={ofOne ? columns.filter(({ name }) => name !== 'Patient' && name !== 'Collection') : columns}
    keyOf={(order) => order.id}
    to={(order) => `/orders/${order.id}`}
  />
)

function Pages({ page: { page, total, total_is_lower_bound, orders } }: { page: Page }) {
  const from = (page - 1) * SIZE + 1
  const to = from + orders.length - 1
  const turn = (to: number) => () => setSearch({ page: to > 1 ? String(to) : null })
  const more = total_is_lower_bound || to < total
  return (
    <Pager
      text={`${count(from)} to ${count(to)} of ${count(total)}${total_is_lower_bound ? ' or more' : ''}`}
      back={page > 1 ? turn(page - 1) : undefined}
      on={more && orders.length ? turn(page + 1) : undefined}
    />
  )
}

const NoOrders = () => (
  <Empty
    title="No orders yet"
    actions={
      <>
        <PlaceLink />
        <Link class="button" to="/users">
          Look at users
        </Link>
      </>
    }
  >
    An order asks a lab to test a sample of a user. Place one here, or by POST /v3/order; in the sandbox you can then walk it to its
    results.
  </Empty>
)

const NothingFound = () => (
  <Empty title="No order matches" actions={<Button onClick={clearFilters}>Clear filters</Button>}>
    Names match from their beginning; ids of orders, users and samples too.
  </Empty>
)
