import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { go } from '../../router.tsx'
import { may, teamPath } from '../../session.ts'
import { Button, Card, Empty, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { type Column, Loaded, Table } from '../../ui/table.tsx'
import { count, plural, short } from '../../words.ts'
import { emptyFields, sentFields, WebhookFields } from './fields.tsx'

export type Webhook = Awaited<ReturnType<typeof api.getWebhook>>

const EVERY = 5_000

export function Webhooks() {
  const [open, setOpen] = useState(false)
  const ask = (next_cursor: string | null) => api.listWebhooks({ params: teamPath(), query: { limit: 100, next_cursor } })
  const webhooks = useQuery('webhooks', () => whole(ask, ({ data }) => data), { every: EVERY })
  const add = may('team.manage') && (
    <Button kind="primary" onClick={() => setOpen(true)}>
      Create a webhook
    </Button>
  )
  return (
    <>
      <Head title="Webhooks" actions={add}>
        Addresses of yours that are told what happens, signed, in order, and again until they answer.
      </Head>
      <Card bare label="Webhooks">
        <Loaded
          of={webhooks}
          isEmpty={(all) => !all.length}
          empty={
            <Empty title="No webhooks yet" actions={add}>
              Give an https address that answers 2xx. Then send it an example and look at the attempt. No receiver at hand? The sandbox
              inbox is one that needs nothing. <a href="/docs/guides/webhook-receivers">Receivers in three languages</a> show how to verify.
            </Empty>
          }
        >
          {(all) => <Table label="Webhooks" rows={all} columns={columns} keyOf={({ id }) => id} to={({ id }) => `/webhooks/${id}`} />}
        </Loaded>
      </Card>
      {open && <NewWebhook onClose={() => setOpen(false)} />}
    </>
  )
}

export const Health = ({ of: { disabled, disabled_because, failures } }: { of: Webhook }) =>
  disabled ? (
    <Status tone="idle">{disabled_because ? 'Disabled by us' : 'Disabled'}</Status>
  ) : failures ? (
    <Status tone="bad">{plural(failures, 'failure')} in a row</Status>
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
        <div class="small muted breaks">{description || <span class="mono">{short(id)}</span>}</div>
      </>
    ),
  },
  { name: 'Health', cell: (one) => <Health of={one} /> },
  { name: 'Events', wide: true, cell: ({ filter_types }) => (filter_types ? plural(filter_types.length, 'filter') : 'All') },
  { name: 'Waiting', wide: true, right: true, cell: ({ waiting }) => count(waiting) },
  { name: 'Created', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} real /> },
]

function NewWebhook({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState(emptyFields)
  const [asymmetric, setAsymmetric] = useState(false)
  const create = async () => {
    const { id } = await api.createWebhook({ params: teamPath(), body: { ...sentFields(fields), asymmetric } })
    refresh('webhooks')
    go(`/webhooks/${id}`)
  }
  return (
    <FormDialog title="Create a webhook" submit="Create" large onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <WebhookFields fields={fields} onChange={setFields} error={error} />
          <Check label="Sign with an ed25519 key too, so that receivers need no secret" value={asymmetric} onCheck={setAsymmetric} />
        </>
      )}
    </FormDialog>
  )
}
