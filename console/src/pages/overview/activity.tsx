import { shortId } from '../../format.ts'
import { Link } from '../../router.tsx'
import { Card, Time } from '../../ui/basics.tsx'
import type { Overview } from './count.ts'

const MAX_EVENTS = 12

export const Activity = ({ events }: { events: Overview['activity'] }) => (
  <Card title="Latest events">
    <ul class="stack tight">
      {events.slice(0, MAX_EVENTS).map(({ event_id, event_type, order_id, user_id, created_at }) => (
        <li key={event_id} class="row between">
          <code class="ellipsis">{event_type}</code>
          <span class="row small">
            {order_id ? (
              <Link to={`/orders/${order_id}`}>{shortId(order_id)}</Link>
            ) : user_id ? (
              <Link to={`/users/${user_id}`}>{shortId(user_id)}</Link>
            ) : null}
            <span class="faint">
              <Time at={created_at} />
            </span>
          </span>
        </li>
      ))}
    </ul>
  </Card>
)
