import { pluralize, shortId } from '../../format.ts'
import { Link } from '../../router.tsx'
import { can } from '../../session.ts'
import { AsyncButton, Card, EmptyState, Status, Time } from '../../ui/basics.tsx'
import { acknowledge } from '../orders/acknowledge.tsx'
import type { Overview } from './count.ts'

export const CriticalResults = ({ results: { newest } }: { results: Overview['critical_unacknowledged'] }) => (
  <Card bare title="Critical results">
    {newest.length ? (
      <ul class="body stack tight">
        {newest.map(({ order_id, result_version, reported_at, escalations }) => (
          <li key={`${order_id} ${result_version}`} class="row between">
            <Link to={`/orders/${order_id}?tab=results`}>Order {shortId(order_id)}</Link>
            <span class="row">
              {escalations > 0 && <Status tone="bad">Escalated {pluralize(escalations, 'time')}</Status>}
              <span class="small muted">
                <Time at={reported_at} />
              </span>
              {can('critical.acknowledge') && (
                <AsyncButton
                  small
                  action={() => acknowledge({ order_id, result_version })}
                  aria-label={`Acknowledge order ${shortId(order_id)}`}
                >
                  Acknowledge
                </AsyncButton>
              )}
            </span>
          </li>
        ))}
      </ul>
    ) : (
      <EmptyState title="No open critical results">All critical results are acknowledged.</EmptyState>
    )}
  </Card>
)
