import { Link } from '../../router.tsx'
import { may } from '../../session.ts'
import { Card, Doing, Empty, Time } from '../../ui/basics.tsx'
import { short } from '../../words.ts'
import { acknowledge } from '../orders/acknowledge.tsx'
import type { Overview } from './count.ts'

/** Critical results that nobody has said to have seen. */
export const Critical = ({ of: { newest } }: { of: Overview['critical_unacknowledged'] }) => (
  <Card bare title="Critical results">
    {newest.length ? (
      <ul class="body stack tight">
        {newest.map(({ order_id, reported_at }) => (
          <li key={order_id} class="row between">
            <Link to={`/orders/${order_id}?tab=results`}>Order {short(order_id)}</Link>
            <span class="row">
              <span class="small muted">
                <Time at={reported_at} />
              </span>
              {may('critical.acknowledge') && (
                <Doing small act={() => acknowledge(order_id)} aria-label={`Acknowledge order ${short(order_id)}`}>
                  Acknowledge
                </Doing>
              )}
            </span>
          </li>
        ))}
      </ul>
    ) : (
      <Empty title="None">Every critical result was acknowledged.</Empty>
    )}
  </Card>
)
