import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { formatCountAtLeast, pluralize, shortId } from '../../format.ts'
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
      Create webhook
    </Button>
  )
  return (
    <>
      <PageHeader title="Webhooks" actions={createButton}>
        Assay sends signed events to your URLs, in order, and retries failed deliveries.
      </PageHeader>
      <Card bare label="Webhooks">
        <QueryView
          query={webhooks}
          isEmpty={(webhooks) => !webhooks.length}
          empty={
            <EmptyState title="No webhooks yet" actions={createButton}>
              Add an HTTPS URL that returns a 2xx status, then send it an example event. See{' '}
              <a href="/docs/guides/webhook-receivers">Receive webhooks</a> for code that verifies signatures.
            </EmptyState>
          }
        >
          {(webhooks) => (
            <Table label="Webhooks" rows={webhooks} columns={columns} keyOf={({ id }) => id} to={({ id }) => `/webhooks/${id}`} />
          )}
        </QueryView>
      </Card>
      {isCreating && <NewWebhook onClose={() => setIsCreating(false)} />}
    </>
  )
}

export const Health = ({ webhook: { disabled, disabled_because, failures } }: { webhook: Webhook }) =>
  disabled ? (
    <Status tone="idle">{disabled_because ? 'Disabled by Assay' : 'Disabled'}</Status>
  ) : failures ? (
    <Status tone="bad">{pluralize(failures, 'failure')} in a row</Status>
  ) : (
    <Status tone="good">Healthy</Status>
  )

const columns: Column<Webhook>[] = [
  {
    name: 'URL',
    // Several webhooks can have the same URL.
    cell: ({ id, url, description }) => (
      <>
        <span class="breaks">{url}</span>
        <div class="small muted breaks">{description || <span class="mono">{shortId(id)}</span>}</div>
      </>
    ),
  },
  { name: 'Health', cell: (webhook) => <Health webhook={webhook} /> },
  { name: 'Event types', wide: true, cell: ({ filter_types }) => (filter_types ? pluralize(filter_types.length, 'filter') : 'All') },
  { name: 'Pending', wide: true, right: true, cell: ({ waiting, waiting_at_least }) => formatCountAtLeast(waiting, waiting_at_least) },
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
    <FormDialog title="Create webhook" submit="Create webhook" large onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <WebhookFields fields={fields} onChange={setFields} error={error} />
          <Checkbox
            label="Also sign with an Ed25519 key, so receivers can verify without a secret"
            value={isAsymmetric}
            onChange={setIsAsymmetric}
          />
        </>
      )}
    </FormDialog>
  )
}
