import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Query } from '../query.ts'
import { Button, Card, Empty, Time } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
import { Head } from './head.tsx'
import { ShownOnce } from './shown-once.tsx'
import { type Column, Loaded, Table } from './table.tsx'
import { say } from './toasts.tsx'

type Key = { id: string; label: string; last_used_at: string | null }

type KeyListProps<K extends Key> = {
  title: string
  about: string
  of: Query<K[]>
  beginning: (key: K) => string
  /** What is said of a key between its beginning and its last use. */
  columns: Column<K>[]
  canManage: boolean
  /** The dialog that makes a key. */
  form: (props: { onClose: () => void; onMade: (secret: string) => void }) => ComponentChildren
  revoke: (key: K) => Promise<unknown>
  revoked: string
}

/** Keys of a team or of the organisation: listed, made and shown once, revoked. */
export function KeyList<K extends Key>({ title, about, of, beginning, columns, canManage, form, revoke, revoked }: KeyListProps<K>) {
  const [open, setOpen] = useState(false)
  const [made, setMade] = useState<string>()
  const [ending, setEnding] = useState<K>()
  const add = canManage && (
    <Button kind="primary" onClick={() => setOpen(true)}>
      Create a key
    </Button>
  )
  const show = (secret: string) => {
    setOpen(false)
    setMade(secret)
  }
  return (
    <>
      <Head title={title} actions={add}>
        {about}
      </Head>
      <Card bare label={title}>
        <Loaded of={of} isEmpty={(keys) => !keys.length} empty={<Empty title="No keys" actions={add} />}>
          {(keys) => (
            <Table
              label={title}
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <strong>{label}</strong> },
                { name: 'Begins with', wide: true, cell: (key) => <code>{beginning(key)}</code> },
                ...columns,
                { name: 'Last used', wide: true, right: true, cell: ({ last_used_at: at }) => <When at={at} /> },
                {
                  name: 'Revoke',
                  right: true,
                  cell: (key) =>
                    canManage ? (
                      <Button small kind="danger" onClick={() => setEnding(key)} aria-label={`Revoke ${key.label}`}>
                        Revoke
                      </Button>
                    ) : null,
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {open && form({ onClose: () => setOpen(false), onMade: show })}
      {made && <ShownOnce title="The new key" secret={made} what="key" onClose={() => setMade(undefined)} />}
      {ending && (
        <Revoke label={ending.label} onClose={() => setEnding(undefined)} revoke={() => revoke(ending)}>
          {revoked}
        </Revoke>
      )}
    </>
  )
}

/** A moment that may never have come. */
export const When = ({ at }: { at: string | null }) => (at ? <Time at={at} real /> : <span class="faint">Never</span>)

type RevokeProps = { label: string; revoke: () => Promise<unknown>; onClose: () => void; children: string }

function Revoke({ label, revoke, onClose, children }: RevokeProps) {
  const end = async () => {
    await revoke()
    onClose()
    say(`${label} is revoked.`)
  }
  return (
    <FormDialog title={`Revoke ${label}?`} submit="Revoke" danger onClose={onClose} onSubmit={end}>
      <p>{children}</p>
    </FormDialog>
  )
}
