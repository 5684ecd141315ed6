import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { Button, Card, CopyButton, EmptyState } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Courier = Awaited<ReturnType<typeof api.listCouriers>>['couriers'][number]
type Action = 'change' | 'rotate' | 'remove'
type Opened = { action: 'add' } | { action: Action; courier: Courier }

export function Couriers() {
  const [opened, setOpened] = useState<Opened>()
  const [secret, setSecret] = useState<string>()
  const couriers = useQuery('couriers', () => api.listCouriers())
  const close = () => setOpened(undefined)
  const showSecret = (secret: string) => {
    close()
    setSecret(secret)
  }
  const addButton = can('data.change') && (
    <Button kind="primary" onClick={() => setOpened({ action: 'add' })}>
      Add courier
    </Button>
  )
  const open = (action: Action, courier: Courier) => setOpened({ action, courier })
  return (
    <>
      <Card bare title="Couriers" actions={addButton}>
        <QueryView
          query={couriers}
          isEmpty={({ couriers }) => !couriers.length}
          empty={<EmptyState title="No couriers yet">Add the courier that ships your kits to track their parcels.</EmptyState>}
        >
          {({ couriers }) => (
            <Table
              label="Couriers"
              rows={couriers}
              keyOf={({ code }) => code}
              columns={[...columns, ...(can('data.change') ? [actionColumn(open)] : [])]}
            />
          )}
        </QueryView>
      </Card>
      {opened?.action === 'add' && <AddCourier existing={couriers.data?.couriers ?? []} onClose={close} onAdded={showSecret} />}
      {opened?.action === 'change' && <ChangeCourier courier={opened.courier} onClose={close} />}
      {opened?.action === 'rotate' && <RotateSecret courier={opened.courier} onClose={close} onRotated={showSecret} />}
      {opened?.action === 'remove' && <RemoveCourier courier={opened.courier} onClose={close} />}
      {secret && (
        <SecretDialog
          title="Secret of the courier"
          secret={secret}
          what="secret"
          note="Copy it now. The console does not show it again. The courier signs its tracking notifications with it."
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

const columns: Column<Courier>[] = [
  { name: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Code', wide: true, cell: ({ code }) => <code>{code}</code> },
  {
    name: 'Notifications to',
    wide: true,
    cell: ({ webhook_url }) => (
      <span class="row">
        <code class="ellipsis" title={webhook_url}>
          {new URL(webhook_url).pathname}
        </code>
        <CopyButton text={webhook_url} what="URL" />
      </span>
    ),
  },
]

const actionNames: [Action, string][] = [
  ['change', 'Change'],
  ['rotate', 'Rotate secret'],
  ['remove', 'Remove'],
]

const actionColumn = (open: (action: Action, courier: Courier) => void): Column<Courier> => ({
  name: 'Actions',
  right: true,
  cell: (courier) => (
    <span class="row wrap">
      {actionNames.map(([action, name]) => (
        <Button
          key={action}
          small
          {...(action === 'remove' ? { kind: 'danger' as const } : {})}
          onClick={() => open(action, courier)}
          aria-label={`${name}: ${courier.name}`}
        >
          {name}
        </Button>
      ))}
    </span>
  ),
})

type AddProps = { existing: Courier[]; onClose: () => void; onAdded: (secret: string) => void }

function AddCourier({ existing, onClose, onAdded }: AddProps) {
  const [code, setCode] = useState('')
  const [name, setName] = useState('')
  const [trackingUrl, setTrackingUrl] = useState('')
  const isTaken = existing.some((courier) => courier.code === code)
  const add = async () => {
    const { secret } = await api.putCourier({ params: { courier: code }, body: { name, tracking_url: trackingUrl || null } })
    refresh('couriers')
    onAdded(secret)
  }
  return (
    <FormDialog title="Add courier" submit="Add courier" disabled={isTaken} onClose={onClose} onSubmit={add}>
      <TextField
        label="Code"
        required
        hint="Lower-case letters and digits. Part of the URL for notifications."
        value={code}
        onText={setCode}
        error={isTaken ? 'Another courier has this code.' : undefined}
      />
      <TextField label="Name" required hint="Shown on orders." value={name} onText={setName} />
      <TrackingUrl value={trackingUrl} onText={setTrackingUrl} />
    </FormDialog>
  )
}

const TrackingUrl = ({ value, onText }: { value: string; onText: (text: string) => void }) => (
  <TextField
    label="Tracking page"
    placeholder="https://courier.example/{number}"
    hint="The page of a parcel, with {number} in place of its tracking number."
    value={value}
    onText={onText}
  />
)

type CourierProps = { courier: Courier; onClose: () => void }

function ChangeCourier({ courier, onClose }: CourierProps) {
  const [name, setName] = useState(courier.name)
  const [trackingUrl, setTrackingUrl] = useState(courier.tracking_url ?? '')
  const save = async () => {
    await api.putCourier({ params: { courier: courier.code }, body: { name, tracking_url: trackingUrl || null } })
    refresh('couriers')
    onClose()
    showToast(`Saved ${name}.`)
  }
  return (
    <FormDialog title={`Change ${courier.name}`} submit="Save" onClose={onClose} onSubmit={save}>
      <TextField label="Name" required hint="Shown on orders." value={name} onText={setName} />
      <TrackingUrl value={trackingUrl} onText={setTrackingUrl} />
    </FormDialog>
  )
}

const newSecret = () => `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`

function RotateSecret({ courier, onClose, onRotated }: CourierProps & { onRotated: (secret: string) => void }) {
  const rotate = async () => {
    const { code, name, tracking_url } = courier
    const { secret } = await api.putCourier({ params: { courier: code }, body: { name, tracking_url, secret: newSecret() } })
    onRotated(secret)
  }
  return (
    <FormDialog title={`Rotate the secret of ${courier.name}?`} submit="Rotate secret" onClose={onClose} onSubmit={rotate}>
      <p>Notifications that are signed with the old secret are rejected immediately.</p>
    </FormDialog>
  )
}

function RemoveCourier({ courier: { code, name }, onClose }: CourierProps) {
  const remove = async () => {
    await api.deleteCourier({ params: { courier: code } })
    refresh('couriers')
    onClose()
    showToast(`Removed ${name}.`)
  }
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove courier" danger onClose={onClose} onSubmit={remove}>
      <p>Its notifications are rejected immediately. Orders keep their tracking numbers.</p>
    </FormDialog>
  )
}
