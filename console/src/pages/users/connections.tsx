import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { Card, EmptyState, Status, Time } from '../../ui/basics.tsx'
import type { User } from './find.ts'

type Feed = { failures: number; remedy: string | null; skipped: { count: number }[] }
type Connection = { name: string; slug: string; status?: string; created_on: string; feeds?: Feed[] }

/** Shows the user's sources at once and their status after it loads. */
export function Connections({ user }: { user: User }) {
  const connections = useQuery(`connections:${user.user_id}`, () => api.listConnections({ params: { user_id: user.user_id } }))
  const sources = user.connected_sources.map(
    ({ provider, created_on }): Connection => ({ name: provider.name, slug: provider.slug, created_on }),
  )
  const visibleConnections: Connection[] = connections.data?.providers ?? sources
  return (
    <Card bare title="Connections" actions={<Link to={`/users/${user.user_id}/data`}>Data and gaps</Link>}>
      {visibleConnections.length ? (
        <ul class="body stack tight">
          {visibleConnections.map(({ slug, name, status, created_on, feeds = [] }) => (
            <li key={slug} class="row between">
              <span>{name}</span>
              <span class="row">
                <ReadingProblems feeds={feeds} />
                {status && <Status tone={status === 'connected' ? 'good' : status === 'error' ? 'bad' : 'idle'}>{humanize(status)}</Status>}
                <span class="small muted">
                  <Time at={created_on} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <EmptyState title="No connections">Users connect a wearable or app with a link token.</EmptyState>
      )}
    </Card>
  )
}

/** Assay repeats a failed read within seconds, so only feeds that failed again are shown. */
function ReadingProblems({ feeds }: { feeds: Feed[] }) {
  const failing = feeds.filter(({ failures }) => failures > 1)
  const skipped = feeds.flatMap((feed) => feed.skipped).reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {skipped > 0 && <span class="small muted">{skipped === 1 ? '1 record skipped' : `${skipped} records skipped`}</span>}
      {failing.length > 0 && (
        <span title={failing[0]?.remedy ?? ''}>
          <Status tone="bad">Reads failing</Status>
        </span>
      )}
    </>
  )
}
