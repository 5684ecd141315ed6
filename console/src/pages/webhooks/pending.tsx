import { api } from '../../api.ts'
import { pluralize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, teamParams } from '../../session.ts'
import { AsyncButton, Card, DottedName, EmptyState, Time } from '../../ui/basics.tsx'
import { QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

const REFRESH_MS = 3_000

export function PendingMessages({ webhook_id }: { webhook_id: string }) {
  const params = { ...teamParams(), webhook_id }
  const messages = useQuery(`pending:${webhook_id}`, () => api.listWebhookMessages({ params }), { refreshMs: REFRESH_MS })
  const retry = async (event_id: string) => {
    await api.retryWebhookMessage({ params: { ...params, event_id } })
    refresh('pending:', 'attempts:')
    showToast('Retry started.')
  }
  return (
    <Card bare title="Pending">
      <QueryView
        query={messages}
        isEmpty={({ data }) => !data.length}
        empty={<EmptyState title="No pending messages">Assay has nothing left to send to this webhook.</EmptyState>}
      >
        {({ data }) => (
          <Table
            label="Pending messages, oldest first"
            rows={data}
            keyOf={({ event_id, sequence }) => `${event_id} ${sequence}`}
            columns={[
              { name: 'Event', cell: ({ event_type }) => <DottedName name={event_type} /> },
              { name: 'Attempts', right: true, cell: ({ attempts }) => attempts },
              { name: 'Queued behind', wide: true, right: true, cell: ({ behind }) => (behind ? pluralize(behind, 'message') : '') },
              {
                name: 'Next attempt',
                cell: ({ next_try_at }) =>
                  next_try_at ? <Time at={next_try_at} isRealTime /> : <span class="faint">After earlier messages</span>,
              },
              {
                name: 'Actions',
                right: true,
                cell: ({ event_id }) =>
                  can('team.manage') ? (
                    <AsyncButton small action={() => retry(event_id)}>
                      Retry now
                    </AsyncButton>
                  ) : null,
              },
            ]}
          />
        )}
      </QueryView>
    </Card>
  )
}
