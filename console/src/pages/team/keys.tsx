import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, teamPath } from '../../session.ts'
import { Button, Card, Empty, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'

type Key = Awaited<ReturnType<typeof api.listTeamKeys>>['api_keys'][number]

export function TeamKeys() {
  const [open, setOpen] = useState(false)
  const [made, setMade] = useState<string>()
  const [revoked, setRevoked] = useState<Key>()
  const { team_id } = teamPath()
  const keys = useQuery(`team-keys:${team_id}`, () => api.listTeamKeys({ params: deploymentPath(), query: { team_id } }))
  const canManage = may('team.manage')
  const add = canManage && (
    <Button kind="primary" onClick={() => setOpen(true)}>
      Create a key
    </Button>
  )
  return (
    <>
      <Head title="API keys" actions={add}>
        Keys of this team for the data routes, sent as x-service-api-key.
      </Head>
      <Card bare label="API keys">
        <Loaded
          of={keys}
          isEmpty={({ api_keys }) => !api_keys.length}
          empty={
            <Empty title="No keys" actions={add}>
              Your backend needs one to call the API for this team.
            </Empty>
          }
        >
          {({ api_keys }) => (
            <Table
              label="API keys"
              rows={api_keys}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <strong>{label}</strong> },
                { name: 'Begins with', wide: true, cell: ({ value }) => <code>{value}</code> },
                {
                  name: 'May',
                  cell: ({ read_only }) => <Status tone={read_only ? 'idle' : 'info'}>{read_only ? 'Read' : 'Read and write'}</Status>,
                },
                {
                  name: 'Ends',
                  wide: true,
                  cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} real /> : <span class="faint">Never</span>),
                },
                {
                  name: 'Last used',
                  wide: true,
                  right: true,
                  cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} real /> : <span class="faint">Never</span>),
                },
                {
                  name: 'Revoke',
                  right: true,
                  cell: (key) =>
                    canManage ? (
                      <Button small kind="danger" onClick={() => setRevoked(key)} aria-label={`Revoke ${key.label}`}>
                        Revoke
                      </Button>
                    ) : null,
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {open && (
        <NewKey
          onClose={() => setOpen(false)}
          onMade={(key) => {
            setOpen(false)
            setMade(key)
          }}
        />
      )}
      {made && <ShownOnce title="The new key" secret={made} what="key" onClose={() => setMade(undefined)} />}
      {revoked && <Revoke of={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [readOnly, setReadOnly] = useState(false)
  const [ends, setEnds] = useState('')
  const create = async () => {
    const { team_id } = teamPath()
    const { value } = await api.createTeamKey({
      params: deploymentPath(),
      body: { label, team_id, read_only: readOnly, ...(ends ? { expires_at: new Date(ends).toISOString() } : {}) },
    })
    refresh('team-keys:')
    onMade(value)
  }
  return (
    <FormDialog title="Create a key" submit="Create" onClose={onClose} onSubmit={create}>
      <TextField label="Label" hint="Where it is used, for example: backend." required value={label} onText={setLabel} />
      <TextField label="Ends on" type="date" hint="Empty: never." value={ends} onText={setEnds} />
      <Check label="May only read" value={readOnly} onCheck={setReadOnly} />
    </FormDialog>
  )
}

function Revoke({ of: { id, label }, onClose }: { of: Key; onClose: () => void }) {
  const revoke = async () => {
    await api.deleteTeamKeys({ params: deploymentPath(), query: { api_key_id: [id] } })
    refresh('team-keys:')
    onClose()
    say(`${label} is revoked.`)
  }
  return (
    <FormDialog title={`Revoke ${label}?`} submit="Revoke" danger onClose={onClose} onSubmit={revoke}>
      <p>Whatever uses the key is refused from now on. It cannot be taken back.</p>
    </FormDialog>
  )
}
