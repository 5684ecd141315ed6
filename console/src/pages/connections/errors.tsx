import { humanize, pluralize, shortId } from '../../format.ts'
import { Link } from '../../router.tsx'
import { Card, EmptyState, Status, Time } from '../../ui/basics.tsx'
import type { SourceStatus } from './connections.tsx'

type SourceError = SourceStatus['errors'][number]

/** The last errors of each source and what to do about them. */
export function SourceErrors({ sources }: { sources: SourceStatus[] }) {
  const failing = sources.filter(({ errors, notifications_remedy }) => errors.length || notifications_remedy)
  return (
    <Card bare title="Errors">
      {failing.length ? (
        <ul class="body stack">
          {failing.map(({ slug, name, errors, notifications_remedy }) => (
            <li key={slug} class="stack tight">
              <h3>{name}</h3>
              {errors.map((error) => (
                <ErrorEntry key={error.error} error={error} />
              ))}
              {notifications_remedy && (
                <div>
                  <Status tone="warn">Notifications fail</Status>
                  <p>Assay reads at intervals until they work. {notifications_remedy}</p>
                </div>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <EmptyState title="No errors">Every connected source was read without an error.</EmptyState>
      )}
    </Card>
  )
}

const ErrorEntry = ({ error: { error, connections, since, next_attempt_at, user_ids, remedy } }: { error: SourceError }) => (
  <div>
    <div class="row wrap">
      <Status tone={next_attempt_at ? 'warn' : 'bad'}>{humanize(error)}</Status>
      <span class="small muted">
        {pluralize(connections, 'connection')}
        {since && (
          <>
            , last <Time at={since} />
          </>
        )}
        {next_attempt_at && (
          <>
            , next attempt <Time at={next_attempt_at} isRealTime />
          </>
        )}
      </span>
    </div>
    <p>{remedy}</p>
    <p class="row wrap small">
      <span class="muted">Users</span>
      {user_ids.map((user_id) => (
        <Link key={user_id} class="mono" to={`/users/${user_id}`}>
          {shortId(user_id)}
        </Link>
      ))}
      {connections > user_ids.length && <span class="muted">and {connections - user_ids.length} more</span>}
    </p>
  </div>
)
