import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Query } from '../query.ts'
import { Button, Card, EmptyState, Time } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
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
  /** What is said of a key between its beginning and its last use. */
  columns: Column<K>[]
  canManage: boolean
  /** The dialog that makes a key. */
  form: (props: { onClose: () => void; onCreated: (secret: string) => void }) => ComponentChildren
  revoke: (key: K) => Promise<unknown>
  revokeWarning: string
}

/** Keys of a team or of the organisation: listed, made and shown once, revoked. */
export function KeyList<K extends Key>({
  title,
  description,
  query,
  prefixOf,
  columns,
  canManage,
  form,
  revoke,
  revokeWarning,
}: KeyListProps<K>) {
  const [isCreating, setIsCreating] = useState(false)
  const [newSecret, setNewSecret] = useState<string>()
  const [revoking, setRevoking] = useState<K>()
  const add = canManage && (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create a key
    </Button>
  )
  const showSecret = (secret: string) => {
    setIsCreating(false)
    setNewSecret(secret)
  }
  return (
    <>
      <PageHeader title={title} actions={add}>
        {description}
      </PageHeader>
      <Card bare label={title}>
        <QueryView query={query} isEmpty={(keys) => !keys.length} empty={<EmptyState title="No keys" actions={add} />}>
          {(keys) => (
            <Table
              label={title}
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <strong>{label}</strong> },
                { name: 'Begins with', wide: true, cell: (key) => <code>{prefixOf(key)}</code> },
                ...columns,
                { name: 'Last used', wide: true, right: true, cell: ({ last_used_at: at }) => <TimeOrNever at={at} /> },
                {
                  name: 'Revoke',
                  right: true,
                  cell: (key) =>
                    canManage ? (
                      <Button small kind="danger" onClick={() => setRevoking(key)} aria-label={`Revoke ${key.label}`}>
                        Revoke
                      </Button>
                    ) : null,
                },
              ]}
            />
          )}
        </QueryView>
      </Card>
      {isCreating && form({ onClose: () => setIsCreating(false), onCreated: showSecret })}
      {newSecret && <SecretDialog title="The new key" secret={newSecret} what="key" onClose={() => setNewSecret(undefined)} />}
      {revoking && (
        <Revoke label={revoking.label} onClose={() => setRevoking(undefined)} revoke={() => revoke(revoking)}>
          {revokeWarning}
        </Revoke>
      )}
    </>
  )
}

/** A moment that may never have come. */
export const TimeOrNever = ({ at }: { at: string | null }) => (at ? <Time at={at} isRealTime /> : <span class="faint">Never</span>)

type RevokeProps = { label: string; revoke: () => Promise<unknown>; onClose: () => void; children: string }

function Revoke({ label, revoke, onClose, children }: RevokeProps) {
  const confirmRevoke = async () => {
    await revoke()
    onClose()
    showToast(`${label} is revoked.`)
  }
  return (
    <FormDialog title={`Revoke ${label}?`} submit="Revoke" danger onClose={onClose} onSubmit={confirmRevoke}>
      <p>{children}</p>
    </FormDialog>
  )
}
