import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { formatCount, pluralize, shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { navigate } from '../../router.tsx'
import { can, teamParams } from '../../session.ts'
import { Button, Card, EmptyState, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { emptyFields, fieldsToBody, WebhookFields } from './fields.tsx'

export type Webhook = Awaited<ReturnType<typeof api.getWebhook>>

const REFRESH_MS = 5_000

export function Webhooks() {
  const [isCreating, setIsCreating] = useState(false)
  const fetchPage = (next_cursor: string | null) => api.listWebhooks({ params: teamParams(), query: { limit: 100, next_cursor } })
  const webhooks = useQuery('webhooks', () => fetchAllPages(fetchPage, ({ data }) => data), { refreshMs: REFRESH_MS })
  const createButton = can('team.manage') && (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create a webhook
    </Button>
  )
  return (
    <>
      <PageHeader title="Webhooks" actions={createButton}>
        Addresses of yours that are told what happens, signed, in order, and again until they answer.
      </PageHeader>
      <Card bare label="Webhooks">
        <QueryView
          query={webhooks}
          isEmpty={(all) => !all.length}
          empty={
            <EmptyState title="No webhooks yet" actions={createButton}>
              Give an https address that answers 2xx. Then send it an example and look at the attempt. No receiver at hand? The sandbox
              inbox is one that needs nothing. <a href="/docs/guides/webhook-receivers">Receivers in three languages</a> show how to verify.
            </EmptyState>
          }
        >
          {(all) => <Table label="Webhooks" rows={all} columns={columns} keyOf={({ id }) => id} to={({ id }) => `/webhooks/${id}`} />}
        </QueryView>
      </Card>
      {isCreating && <NewWebhook onClose={() => setIsCreating(false)} />}
    </>
  )
}

export const Health = ({ webhook: { disabled, disabled_because, failures } }: { webhook: Webhook }) =>
  disabled ? (
    <Status tone="idle">{disabled_because ? 'Disabled by us' : 'Disabled'}</Status>
  ) : failures ? (
    <Status tone="bad">{pluralize(failures, 'failure')} in a row</Status>
  ) : (
    <Status tone="good">Healthy</Status>
  )

const columns: Column<Webhook>[] = [
  {
    name: 'Address',
    // Several may have one address.
    cell: ({ id, url, description }) => (
      <>
        <span class="breaks">{url}</span>
        <div class="small muted breaks">{description || <span class="mono">{shortId(id)}</span>}</div>
      </>
    ),
  },
  { name: 'Health', cell: (webhook) => <Health webhook={webhook} /> },
  { name: 'Events', wide: true, cell: ({ filter_types }) => (filter_types ? pluralize(filter_types.length, 'filter') : 'All') },
  { name: 'Waiting', wide: true, right: true, cell: ({ waiting }) => formatCount(waiting) },
  { name: 'Created', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} isRealTime /> },
]

function NewWebhook({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState(emptyFields)
  const [isAsymmetric, setIsAsymmetric] = useState(false)
  const create = async () => {
    const { id } = await api.createWebhook({ params: teamParams(), body: { ...fieldsToBody(fields), asymmetric: isAsymmetric } })
    refresh('webhooks')
    navigate(`/webhooks/${id}`)
  }
  return (
    <FormDialog title="Create a webhook" submit="Create" large onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <WebhookFields fields={fields} onChange={setFields} error={error} />
          <Checkbox
            label="Sign with an ed25519 key too, so that receivers need no secret"
            value={isAsymmetric}
            onChange={setIsAsymmetric}
          />
        </>
      )}
    </FormDialog>
  )
}
