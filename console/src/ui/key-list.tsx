import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Query } from '../query.ts'
import { Button, Card, EmptyState, Time } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
import { TextField } from './forms.tsx'
import { PageHeader } from './page-header.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { type Column, QueryView, Table } from './table.tsx'
import { showToast } from './toasts.tsx'

type Key = { id: string; label: string; last_used_at: string | null }

type KeyListProps<K extends Key> = {
  title: string
  description: string
  query: Query<K[]>
  prefixOf: (key: K) => string
  /** Columns between the prefix and the last use. */
  columns: Column<K>[]
  canManage: boolean
  /** Renders the dialog that creates a key. */
  form: (props: { onClose: () => void; onCreated: (secret: string) => void }) => ComponentChildren
  /** Renders the dialog that changes a key. */
  edit?: (props: { item: K; onClose: () => void }) => ComponentChildren
  /** Creates the successor of a key and returns its secret. The old key ends at once, or at the given time. */
  rotate: (key: K, old_key_expires_at: string | null) => Promise<string>
  revoke: (key: K) => Promise<unknown>
  revokeWarning: string
}

export function KeyList<K extends Key>({
  title,
  description,
  query,
  prefixOf,
  columns,
  canManage,
  form,
  edit,
  rotate,
  revoke,
  revokeWarning,
}: KeyListProps<K>) {
  const [isCreating, setIsCreating] = useState(false)
  const [editing, setEditing] = useState<K>()
  const [rotating, setRotating] = useState<K>()
  const [newSecret, setNewSecret] = useState<string>()
  const [revoking, setRevoking] = useState<K>()
  const createButton = canManage && (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  )
  const showSecret = (secret: string) => {
    setIsCreating(false)
    setRotating(undefined)
    setNewSecret(secret)
  }
  return (
    <>
      <PageHeader title={title} actions={createButton}>
        {description}
      </PageHeader>
      <Card bare label={title}>
        <QueryView query={query} isEmpty={(keys) => !keys.length} empty={<EmptyState title="No keys yet" actions={createButton} />}>
          {(keys) => (
            <Table
              label={title}
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <strong>{label}</strong> },
                { name: 'Prefix', wide: true, cell: (key) => <code>{prefixOf(key)}</code> },
                ...columns,
                { name: 'Last used', wide: true, right: true, cell: ({ last_used_at: at }) => <TimeOrNever at={at} /> },
                {
                  name: 'Actions',
                  right: true,
                  cell: (key) =>
                    canManage ? (
                      <div class="row wrap">
                        {edit && (
                          <Button small onClick={() => setEditing(key)} aria-label={`Edit ${key.label}`}>
                            Edit
                          </Button>
                        )}
                        <Button small onClick={() => setRotating(key)} aria-label={`Rotate ${key.label}`}>
                          Rotate
                        </Button>
                        <Button small kind="danger" onClick={() => setRevoking(key)} aria-label={`Revoke ${key.label}`}>
                          Revoke
                        </Button>
                      </div>
                    ) : null,
                },
              ]}
            />
          )}
        </QueryView>
      </Card>
      {isCreating && form({ onClose: () => setIsCreating(false), onCreated: showSecret })}
      {newSecret && <SecretDialog title="Key created" secret={newSecret} what="key" onClose={() => setNewSecret(undefined)} />}
      {editing && edit?.({ item: editing, onClose: () => setEditing(undefined) })}
      {rotating && (
        <Rotate
          label={rotating.label}
          onClose={() => setRotating(undefined)}
          rotate={async (until) => showSecret(await rotate(rotating, until))}
        />
      )}
      {revoking && (
        <Revoke label={revoking.label} onClose={() => setRevoking(undefined)} revoke={() => revoke(revoking)}>
          {revokeWarning}
        </Revoke>
      )}
    </>
  )
}

export const TimeOrNever = ({ at }: { at: string | null }) => (at ? <Time at={at} isRealTime /> : <span class="faint">Never</span>)

type RotateProps = { label: string; rotate: (old_key_expires_at: string | null) => Promise<unknown>; onClose: () => void }

function Rotate({ label, rotate, onClose }: RotateProps) {
  const [until, setUntil] = useState('')
  return (
    <FormDialog
      title={`Rotate ${label}?`}
      submit="Rotate key"
      onClose={onClose}
      onSubmit={() => rotate(until ? new Date(until).toISOString() : null)}
    >
      <p>The new key has the same access. Tokens of the old key keep working and end with the new key.</p>
      <TextField
        label="Keep the old key until"
        type="datetime-local"
        hint="In your time zone. Leave empty to end the old key now."
        value={until}
        onText={setUntil}
      />
    </FormDialog>
  )
}

type RevokeProps = { label: string; revoke: () => Promise<unknown>; onClose: () => void; children: string }

function Revoke({ label, revoke, onClose, children }: RevokeProps) {
  const confirmRevoke = async () => {
    await revoke()
    onClose()
    showToast(`Revoked ${label}.`)
  }
  return (
    <FormDialog title={`Revoke ${label}?`} submit="Revoke key" danger onClose={onClose} onSubmit={confirmRevoke}>
      <p>{children}</p>
    </FormDialog>
  )
}
