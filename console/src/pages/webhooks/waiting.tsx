import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { may, teamPath } from '../../session.ts'
import { Card, Doing, Dotted, Empty, Time } from '../../ui/basics.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'

const EVERY = 3_000

export function Waiting({ webhook_id }: { webhook_id: string }) {
  const params = { ...teamPath(), webhook_id }
  const messages = useQuery(`waiting:${webhook_id}`, () => api.listWebhookMessages({ params }), { every: EVERY })
  const retry = async (event_id: string) => {
    await api.retryWebhookMessage({ params: { ...params, event_id } })
    refresh('waiting:', 'attempts:')
    say('It is tried now.')
  }
  return (
    <Card bare title="Waiting">
      <Loaded
        of={messages}
        isEmpty={({ data }) => !data.length}
        empty={<Empty title="Nothing waits">Everything that this webhook takes was delivered.</Empty>}
      >
        {({ data }) => (
          <Table
            label="Messages that wait, next first"
            rows={data}
            keyOf={({ event_id, sequence }) => `${event_id} ${sequence}`}
            columns={[
              { name: 'Event', cell: ({ event_type }) => <Dotted name={event_type} /> },
              { name: 'Tries', right: true, cell: ({ attempts }) => attempts },
              { name: 'Behind', wide: true, right: true, cell: ({ behind }) => behind || '' },
              {
                name: 'Next try',
                cell: ({ next_try_at }) =>
                  next_try_at ? <Time at={next_try_at} real /> : <span class="faint">after those before it</span>,
              },
              {
                name: 'Retry',
                right: true,
                cell: ({ event_id }) =>
                  may('team.manage') ? (
                    <Doing small act={() => retry(event_id)}>
                      Try now
                    </Doing>
                  ) : null,
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
