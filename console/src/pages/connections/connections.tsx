import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatCount, formatDuration, humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { can, session } from '../../session.ts'
import { Button, Card, Status, Time, type Tone } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { SourceErrors } from './errors.tsx'
import { PullDialog } from './pull-dialog.tsx'

export type SourceStatus = Awaited<ReturnType<typeof api.getSourceStatus>>['sources'][number]

const REFRESH_MS = 30_000

export function SourceConnections() {
  const [isPulling, setIsPulling] = useState(false)
  const status = useQuery('source-status', () => api.getSourceStatus(), { refreshMs: REFRESH_MS })
  return (
    <>
      <PageHeader
        title="Connections"
        actions={
          can('data.change') && (
            <Button kind="primary" onClick={() => setIsPulling(true)}>
              Read a period again
            </Button>
          )
        }
      >
        Wearable sources of this team: who is connected, how far Assay is behind, and what needs your attention.
      </PageHeader>
      <div class="stack">
        <Card bare label="Sources">
          <QueryView query={status} lines={6}>
            {({ sources }) => <Table label="Sources" rows={sources} keyOf={({ slug }) => slug} columns={columns} />}
          </QueryView>
        </Card>
        {status.data && <SourceErrors sources={status.data.sources} />}
      </div>
      {isPulling && <PullDialog onClose={() => setIsPulling(false)} />}
    </>
  )
}

const states: [keyof Omit<SourceStatus['connections'], 'at_least'>, Tone][] = [
  ['connected', 'good'],
  ['pending', 'info'],
  ['failing', 'warn'],
  ['expired', 'bad'],
  ['paused', 'idle'],
]

function Counts({ connections }: { connections: SourceStatus['connections'] }) {
  const present = states.filter(([state]) => connections[state])
  if (!present.length) return <span class="faint">None</span>
  return (
    <span class="row wrap">
      {present.map(([state, tone]) => (
        <Status key={state} tone={tone}>
          {formatCount(connections[state])} {state}
        </Status>
      ))}
      {connections.at_least && <span class="small muted">newest 10,000</span>}
    </span>
  )
}

const Lag = ({ source: { lag_seconds, last_read_at, blocked_until } }: { source: SourceStatus }) => {
  if (blocked_until)
    return (
      <span class="small">
        Limited, continues <Time at={blocked_until} isRealTime />
      </span>
    )
  if (lag_seconds === null || !last_read_at) return <span class="faint">–</span>
  return <span class="nowrap">{lag_seconds ? formatDuration(lag_seconds * 1000) : 'None'}</span>
}

const notificationLabels: Record<string, string> = {
  active: 'Notifications',
  manual: 'Notifications, set up by hand',
  pending: 'After the first connection',
  polled: 'Read at intervals',
}

const applicationLabels: Record<string, string> = { team: "Team's own", deployment: "Operator's" }

const Application = ({ source: { application, name } }: { source: SourceStatus }) => {
  const label = applicationLabels[application] ?? 'Not set up'
  const canSet = can('team.manage') && session.get()?.kind !== 'team'
  if (canSet)
    return (
      <Link to="/sources" aria-label={`OAuth application of ${name}: ${label}`}>
        {label}
      </Link>
    )
  return <span class={application === 'none' ? 'faint' : ''}>{label}</span>
}

const columns: Column<SourceStatus>[] = [
  { name: 'Source', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Connections', cell: ({ connections }) => <Counts connections={connections} /> },
  { name: 'Lag', cell: (source) => <Lag source={source} /> },
  {
    name: 'Last read',
    wide: true,
    cell: ({ last_read_at }) => (last_read_at ? <Time at={last_read_at} isRealTime /> : <span class="faint">–</span>),
  },
  {
    name: 'Quota left',
    wide: true,
    cell: ({ quota }) =>
      quota ? (
        <span class="nowrap">
          {formatCount(quota.remaining)}
          {quota.limit !== null && <span class="small muted"> of {formatCount(quota.limit)}</span>}
        </span>
      ) : (
        <span class="faint">–</span>
      ),
  },
  {
    name: 'New data',
    wide: true,
    cell: ({ notifications, lag_seconds }) =>
      notifications === 'failing' ? (
        <Status tone="warn">Notifications fail</Status>
      ) : (
        <span class="small muted">
          {lag_seconds === null ? 'The source sends it' : (notificationLabels[notifications] ?? humanize(notifications))}
        </span>
      ),
  },
  { name: 'OAuth application', wide: true, cell: (source) => <Application source={source} /> },
]
