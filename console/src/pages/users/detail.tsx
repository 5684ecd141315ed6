import { api } from '../../api.ts'
import { formatDate } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, EmptyState, Id, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { OrderTable } from '../orders/list.tsx'
import { PlaceOrderLink } from '../orders/place-order-link.tsx'
import { Connections } from './connections.tsx'
import { DeleteUser } from './delete.tsx'
import { Demographics } from './demographics.tsx'
import type { User } from './find.ts'
import { UserSeries } from './series.tsx'

export function UserDetail({ params: { user_id = '' } }: PageProps) {
  const user = useQuery(`user:${user_id}`, () => api.getUser({ params: { user_id } }))
  if (user.error?.status === 404) return <UserNotFound user_id={user_id} />
  return (
    <DetailPage query={user} title="User" up={['/users', 'Users']}>
      {(user) => <UserView user={user} />}
    </DetailPage>
  )
}

const UserView = ({ user }: { user: User }) => (
  <>
    <PageHeader
      up={['/users', 'Users']}
      title={user.client_user_id}
      actions={
        can('data.change') && (
          <>
            <DeleteUser user={user} />
            <PlaceOrderLink user_id={user.user_id} />
          </>
        )
      }
    >
      <span class="row wrap">
        <span>
          Created <Time at={user.created_on} />
        </span>
        <Id id={user.user_id} what="user ID" />
      </span>
    </PageHeader>
    <div class="columns">
      <div class="stack">
        <UserSeries user_id={user.user_id} />
        <UserOrders user_id={user.user_id} />
      </div>
      <div class="stack">
        <Demographics user_id={user.user_id} />
        <Connections user={user} />
        <Card title="Data settings">
          <DescriptionList
            items={[
              ['Time zone', user.fallback_time_zone?.id ?? 'Not set'],
              ['Ingestion start', user.ingestion_start ? formatDate(user.ingestion_start) : 'No limit'],
              ['Ingestion end', user.ingestion_end ? formatDate(user.ingestion_end) : 'No limit'],
            ]}
          />
        </Card>
      </div>
    </div>
  </>
)

const MAX_ORDERS = 10

function UserOrders({ user_id }: { user_id: string }) {
  const orders = useQuery(`orders of ${user_id}`, () => api.listOrders({ query: { user_id, size: MAX_ORDERS } }))
  const hasMore = (orders.data?.total ?? 0) > MAX_ORDERS
  return (
    <Card bare title="Orders" actions={hasMore && <Link to={`/orders?user_id=${user_id}`}>View all {orders.data?.total}</Link>}>
      <QueryView
        query={orders}
        isEmpty={({ orders }) => !orders.length}
        empty={
          <EmptyState title="No orders yet" actions={<PlaceOrderLink user_id={user_id} />}>
            This user's orders and results appear here.
          </EmptyState>
        }
      >
        {({ orders }) => <OrderTable orders={orders} isSingleUser />}
      </QueryView>
    </Card>
  )
}

/** A deleted user also gives 404, and can be restored for 7 days. */
function UserNotFound({ user_id }: { user_id: string }) {
  const undo = async () => {
    await api.undoDeleteUser({ query: { user_id } })
    showToast('User restored.')
    refresh(`user:${user_id}`, 'users', 'orders')
  }
  return (
    <>
      <PageHeader up={['/users', 'Users']} title="User not found" />
      <Card bare label="User not found">
        <EmptyState title="This user does not exist" actions={can('data.change') && <AsyncButton action={undo}>Restore user</AsyncButton>}>
          If the user was deleted in the last 7 days, you can restore them. Otherwise, check the ID and the selected team.
        </EmptyState>
      </Card>
    </>
  )
}
