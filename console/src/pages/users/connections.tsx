import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Card, Empty, Status, Time } from '../../ui/basics.tsx'
import { words } from '../../words.ts'
import type { User } from './find.ts'

type Connection = { name: string; slug: string; status?: string; created_on: string }

/** The sources that the user connected; their state follows when it is read. */
export function Connections({ user }: { user: User }) {
  const told = useQuery(`connections:${user.user_id}`, () => api.listConnections({ params: { user_id: user.user_id } }))
  const known = user.connected_sources.map(
    ({ provider, created_on }): Connection => ({ name: provider.name, slug: provider.slug, created_on }),
  )
  const all: Connection[] = told.data?.providers ?? known
  return (
    <Card bare title="Connections">
      {all.length ? (
        <ul class="body stack tight">
          {all.map(({ slug, name, status, created_on }) => (
            <li key={slug} class="row between">
              <span>{name}</span>
              <span class="row">
                {status && <Status tone={status === 'connected' ? 'good' : status === 'error' ? 'bad' : 'idle'}>{words(status)}</Status>}
                <span class="small muted">
                  <Time at={created_on} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <Empty title="No source connected">A wearable or an app is connected by the user, through a link token.</Empty>
      )}
    </Card>
  )
}
