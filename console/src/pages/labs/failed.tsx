import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, Time } from '../../ui/basics.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Failed = Awaited<ReturnType<typeof api.listFailedLabMessages>>['messages'][number]

/** Messages from labs that Assay gave up on. Without any, the page does not mention them. */
export function FailedMessages() {
  const { data } = useQuery('failed-lab-messages', () => api.listFailedLabMessages())
  if (!data?.messages.length) return null
  return (
    <Card bare title="Messages that could not be filed">
      <Table
        label="Messages that could not be filed, oldest first"
        rows={data.messages}
        keyOf={({ lab, control_id }) => `${lab.slug} ${control_id}`}
        columns={columns}
      />
    </Card>
  )
}

const columns: Column<Failed>[] = [
  { name: 'Control ID', cell: ({ control_id }) => <span class="mono small">{control_id}</span> },
  { name: 'Lab', cell: ({ lab }) => lab.name },
  { name: 'Type', wide: true, cell: ({ type }) => <span class="mono small">{type}</span> },
  { name: 'Error', wide: true, cell: ({ error, attempts }) => `${error ?? 'Unknown'}, ${attempts} attempts` },
  { name: 'Received', wide: true, right: true, cell: ({ received_at }) => <Time at={received_at} isRealTime /> },
  { name: 'Actions', right: true, cell: (message) => <ProcessAgain message={message} /> },
]

function ProcessAgain({ message: { lab, control_id } }: { message: Failed }) {
  if (!can('deployment.operate')) return null
  const process = async () => {
    await api.processFailedLabMessage({ body: { lab: lab.slug, control_id } })
    refresh('failed-lab-messages', 'operated-lab-connections')
    showToast(`Processing message ${control_id} again.`)
  }
  return (
    <AsyncButton small action={process}>
      Process again
    </AsyncButton>
  )
}
