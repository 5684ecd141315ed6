import { pluralize, shortId } from '../../format.ts'
import { Link } from '../../router.tsx'
import { Card, EmptyState, Status, Time } from '../../ui/basics.tsx'
import { formatCountOf, type Overview } from './count.ts'

type Props = { results: Overview['critical_unacknowledged']; unmatched: Overview['critical_unmatched'] }

export const CriticalResults = ({ results: { newest, count, at_least }, unmatched }: Props) => (
  <Card bare title="Critical results">
    {newest.length || unmatched.count ? (
      <ul class="body stack tight">
        {unmatched.count > 0 && (
          <li class="row between">
            <Status tone="bad">{formatCountOf(unmatched)} without an order</Status>
            <Link class="button small" to="/unmatched-results" aria-label="Review unmatched results">
              Review
            </Link>
          </li>
        )}
        {newest.map(({ order_id, critical_version, reported_at, escalations }) => (
          <li key={`${order_id} ${critical_version}`} class="row between">
            <span>Order {shortId(order_id)}</span>
            <span class="row">
              {escalations > 0 && <Status tone="bad">Escalated {pluralize(escalations, 'time')}</Status>}
              <span class="small muted">
                <Time at={reported_at} />
              </span>
              <Link
                class="button small"
                to={`/orders/${order_id}?tab=results&review=open`}
                aria-label={`Open result of order ${shortId(order_id)}`}
              >
                Open result
              </Link>
            </span>
          </li>
        ))}
        {count > newest.length && (
          <li class="small muted">
            {formatCountOf({ count: count - newest.length, at_least })} older ones are not listed. Acknowledge these to see them.
          </li>
        )}
      </ul>
    ) : (
      <EmptyState title="No open critical results">All critical results are acknowledged.</EmptyState>
    )}
  </Card>
)
