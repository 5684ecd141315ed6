import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, Time } from '../../ui/basics.tsx'
import { type Column, CursorPager, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Failed = Awaited<ReturnType<typeof api.listFailedLabMessages>>['messages'][number]

/** Messages from labs that Assay gave up on. Without any, the page does not mention them. */
export function FailedMessages() {
  const [pages, setPages] = useState<(string | null)[]>([null])
  const next_cursor = pages.at(-1)
  const { data } = useQuery(`failed-lab-messages?${next_cursor}`, () =>
    api.listFailedLabMessages({ query: next_cursor ? { next_cursor } : {} }),
  )
  if (!data || (pages.length === 1 && !data.messages.length)) return null
  return (
    <Card bare title="Messages that could not be filed">
      <Table label="Messages that could not be filed, newest first" rows={data.messages} keyOf={({ id }) => id} columns={columns} />
      <CursorPager pages={pages} next={data.next_cursor} onChange={setPages} />
    </Card>
  )
}

const columns: Column<Failed>[] = [
  { name: 'Control ID', cell: ({ control_id }) => <span class="mono small">{control_id}</span> },
  { name: 'Lab', cell: ({ lab }) => lab.name },
  { name: 'Type', wide: true, cell: ({ type }) => <span class="mono small">{type}</span> },
  { name: 'Error', wide: true, cell: ({ error, attempts }) => `${error ?? 'Unknown'}, ${attempts} attempts` },
  { name: 'Received', wide: true, right: true, cell: ({ received_at }) => <Time at={received_at} isRealTime /> },
  { name: 'Actions', right: true, cell: (message) => <Actions message={message} /> },
]

function Actions({ message: { lab, control_id } }: { message: Failed }) {
  if (!can('deployment.operate')) return null
  const body = { lab: lab.slug, control_id }
  const report = (text: string) => {
    refresh('failed-lab-messages', 'operated-lab-connections')
    showToast(text)
  }
  const process = async () => {
    await api.processFailedLabMessage({ body })
    report(`Processing message ${control_id} again.`)
  }
  const dismiss = async () => {
    await api.dismissFailedLabMessage({ body })
    report(`Message ${control_id} is dismissed.`)
  }
  return (
    <span class="row">
      <AsyncButton small action={process}>
        Process again
      </AsyncButton>
      <AsyncButton small action={dismiss}>
        Dismiss
      </AsyncButton>
    </span>
  )
}
