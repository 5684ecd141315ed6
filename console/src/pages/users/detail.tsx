import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { may } from '../../session.ts'
import { Card, Doing, Empty, Facts, Id, Time } from '../../ui/basics.tsx'
import { Detail } from '../../ui/detail.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { day } from '../../words.ts'
import { OrderTable } from '../orders/list.tsx'
import { PlaceLink } from '../orders/place-link.tsx'
import { Connections } from './connections.tsx'
import { DeleteUser } from './delete.tsx'
import { Demographics } from './demographics.tsx'
import type { User } from './find.ts'
import { UserSeries } from './series.tsx'

export function UserDetail({ params: { user_id = '' } }: PageProps) {
  const user = useQuery(`user:${user_id}`, () => api.getUser({ params: { user_id } }))
  if (user.error?.status === 404) return <Gone user_id={user_id} />
  return (
    <Detail of={user} what="User" up={['/users', 'Users']}>
      {(user) => <Found user={user} />}
    </Detail>
  )
}

const Found = ({ user }: { user: User }) => (
  <>
    <Head
      up={['/users', 'Users']}
      title={user.client_user_id}
      actions={
        may('data.change') && (
          <>
            <DeleteUser user={user} />
            <PlaceLink user_id={user.user_id} />
          </>
        )
      }
    >
      <span class="row wrap">
        <span>
          created <Time at={user.created_on} />
        </span>
        <Id id={user.user_id} what="user id" />
      </span>
    </Head>
    <div class="columns">
      <div class="stack">
        <UserSeries user_id={user.user_id} />
        <UserOrders user_id={user.user_id} />
      </div>
      <div class="stack">
        <Demographics user_id={user.user_id} />
        <Connections user={user} />
        <Card title="Data">
          <Facts
            of={[
              ['Time zone', user.fallback_time_zone?.id ?? 'Not set'],
              ['Taken from', user.ingestion_start ? day(user.ingestion_start) : 'The beginning'],
              ['Taken until', user.ingestion_end ? day(user.ingestion_end) : 'Open'],
            ]}
          />
        </Card>
      </div>
    </div>
  </>
)

const SHOWN = 10

function UserOrders({ user_id }: { user_id: string }) {
  const orders = useQuery(`orders of ${user_id}`, () => api.listOrders({ query: { user_id, size: SHOWN } }))
  const more = (orders.data?.total ?? 0) > SHOWN
  return (
    <Card bare title="Orders" actions={more && <Link to={`/orders?user_id=${user_id}`}>All {orders.data?.total}</Link>}>
      <Loaded
        of={orders}
        isEmpty={({ orders }) => !orders.length}
        empty={
          <Empty title="No orders yet" actions={<PlaceLink user_id={user_id} />}>
            Orders of this user and their results appear here.
          </Empty>
        }
      >
        {({ orders }) => <OrderTable orders={orders} ofOne />}
      </Loaded>
    </Card>
  )
}

/** Not there, or awaiting its erasure: within its 7 days a deletion can be undone. */
function Gone({ user_id }: { user_id: string }) {
  const undo = async () => {
    await api.undoDeleteUser({ query: { user_id } })
    say('The user is back.')
    refresh(`user:${user_id}`, 'users', 'orders')
  }
  return (
    <>
      <Head up={['/users', 'Users']} title="User not found" />
      <Card bare label="User not found">
        <Empty title="This user is not there" actions={may('data.change') && <Doing act={undo}>Undo the deletion</Doing>}>
          If it was deleted in the last 7 days, nothing is lost yet and the deletion can be undone. Otherwise the id is of another team, or
          misspelt.
        </Empty>
      </Card>
    </>
  )
}
