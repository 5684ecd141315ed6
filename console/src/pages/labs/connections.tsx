import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { type Query, useQuery } from '../../query.ts'
import { Card, DescriptionList, EmptyState, Notice, Status, Time, type Tone } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'
import { FailedMessages } from './failed.tsx'
import { LabMessages } from './messages.tsx'

type Connection = Awaited<ReturnType<typeof api.listLabConnections>>['connections'][number] & { unfiled?: number; failed?: number }

const REFRESH_MS = 15_000
const tones: Record<string, Tone> = { connected: 'good', failing: 'bad', unused: 'idle', not_configured: 'bad' }

/** The connections of the deployment with the messages of the team. */
export function LabConnections() {
  const connections = useQuery('lab-connections', () => api.listLabConnections(), { refreshMs: REFRESH_MS })
  return (
    <>
      <PageHeader title="Lab connections">Labs that get your orders and send results by HL7, and the messages of your team.</PageHeader>
      <div class="stack">
        <ConnectionCards connections={connections} />
        <LabMessages list={api.listLabMessages} />
      </div>
    </>
  )
}

/** The connections of all teams. */
export function OperatedLabConnections() {
  const connections = useQuery('operated-lab-connections', () => api.listOperatedLabConnections(), { refreshMs: REFRESH_MS })
  return (
    <>
      <PageHeader title="All lab connections">Labs of this deployment, and the HL7 messages of all teams without their content.</PageHeader>
      <div class="stack">
        <ConnectionCards connections={connections} />
        <FailedMessages />
        <LabMessages list={api.listOperatedLabMessages} isOperator />
      </div>
    </>
  )
}

const ConnectionCards = ({ connections }: { connections: Query<{ connections: Connection[] }> }) => (
  <QueryView
    query={connections}
    isEmpty={({ connections }) => !connections.length}
    empty={
      <Card bare label="Lab connections">
        <EmptyState title="No lab is connected">
          The operator connects labs with the setting LAB_CONNECTIONS. Without one, labs use the partner lab API.
        </EmptyState>
      </Card>
    }
  >
    {({ connections }) => (
      <div class="halves">
        {connections.map((connection) => (
          <ConnectionCard key={connection.lab.id} connection={connection} />
        ))}
      </div>
    )}
  </QueryView>
)

const ConnectionCard = ({ connection }: { connection: Connection }) => {
  const { lab, state, failing_since, error, remedy, last_answered_at, last_received_at, pending, oldest_pending_at, rejected } = connection
  const isSftp = connection.transport === 'sftp'
  return (
    <Card title={lab.name} actions={<Status tone={tones[state] ?? 'idle'}>{humanize(state)}</Status>}>
      <div class="stack">
        {remedy && (
          <Notice tone="bad">
            {error && <strong>{error}. </strong>}
            {remedy}
          </Notice>
        )}
        <DescriptionList
          items={[
            ['Failing since', failing_since && <Time at={failing_since} isRealTime />],
            [isSftp ? 'Last file sent' : 'Last answer', timeOrNever(last_answered_at)],
            [isSftp ? 'Last file picked up' : 'Last received', timeOrNever(last_received_at)],
            ['Queue', pending ? pluralize(pending, 'message') : 'Empty'],
            ['Oldest', oldest_pending_at && <Time at={oldest_pending_at} isRealTime />],
            ['Rejected', rejected ? <Status tone="bad">{pluralize(rejected, 'message')}</Status> : 'None'],
            ['To be filed', connection.unfiled ? pluralize(connection.unfiled, 'message') : null],
            ['Not filed', connection.failed ? <Status tone="bad">{pluralize(connection.failed, 'message')}</Status> : null],
          ]}
        />
      </div>
    </Card>
  )
}

const timeOrNever = (at: string | null) => (at ? <Time at={at} isRealTime /> : <span class="faint">Never</span>)
