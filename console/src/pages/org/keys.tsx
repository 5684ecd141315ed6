import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, session } from '../../session.ts'
import { Button, Card, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, SelectField, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'

type Key = Awaited<ReturnType<typeof api.listManagementKeys>>['data'][number]

export function ManagementKeys() {
  const [open, setOpen] = useState(false)
  const [made, setMade] = useState<string>()
  const [revoked, setRevoked] = useState<Key>()
  const { org_id } = deploymentPath()
  const keys = useQuery('management-keys', () => api.listManagementKeys({ params: { org_id } }))
  const canManage = may('org.manage')
  return (
    <>
      <Head
        title="Management keys"
        actions={
          canManage && (
            <Button kind="primary" onClick={() => setOpen(true)}>
              Create a key
            </Button>
          )
        }
      >
        Keys of the organisation for teams, keys and webhooks, sent as X-Management-Key.
      </Head>
      <Card bare label="Management keys">
        <Loaded of={keys}>
          {({ data }) => (
            <Table
              label="Management keys"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <strong>{label}</strong> },
                { name: 'Begins with', wide: true, cell: ({ prefix }) => <code>{prefix}</code> },
                { name: 'Role', cell: ({ role }) => <Status tone="info">{words(role)}</Status> },
                {
                  name: 'Teams',
                  wide: true,
                  cell: ({ team_role_bindings }) => team_role_bindings?.map(({ team_id }) => nameOf(team_id)).join(', ') ?? 'All',
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

export const nameOf = (id: string) => session.get()?.teams.find(({ team_id }) => team_id === id)?.name ?? id.slice(0, 8)

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [role, setRole] = useState<'org_admin' | 'team_admin'>('org_admin')
  const [teams, setTeams] = useState<string[]>([])
  const { org_id } = deploymentPath()
  const create = async () => {
    const bindings = role === 'team_admin' ? { team_role_bindings: teams.map((team_id) => ({ team_id })) } : {}
    const { key } = await api.createManagementKey({ params: { org_id }, body: { label, role, ...bindings } })
    refresh('management-keys')
    onMade(key)
  }
  return (
    <FormDialog title="Create a management key" submit="Create" onClose={onClose} onSubmit={create}>
      <TextField label="Label" required value={label} onText={setLabel} />
      <SelectField
        label="Role"
        value={role}
        options={[
          ['org_admin', 'The whole organisation'],
          ['team_admin', 'Some teams only'],
        ]}
        // The options above are the values of the contract.
        onChoose={(value) => setRole(value as typeof role)}
      />
      {role === 'team_admin' && <TeamChecks chosen={teams} onChange={setTeams} />}
    </FormDialog>
  )
}

export const TeamChecks = ({ chosen, onChange }: { chosen: string[]; onChange: (ids: string[]) => void }) => (
  <fieldset class="stack tight">
    <legend>Teams</legend>
    {session.get()?.teams.map(({ team_id, name }) => (
      <Check
        key={team_id}
        label={name}
        value={chosen.includes(team_id)}
        onCheck={(on) => onChange(on ? [...chosen, team_id] : chosen.filter((one) => one !== team_id))}
      />
    ))}
  </fieldset>
)

function Revoke({ of: { id, label }, onClose }: { of: Key; onClose: () => void }) {
  const { org_id } = deploymentPath()
  const revoke = async () => {
    await api.deleteManagementKey({ params: { org_id, key_id: id } })
    refresh('management-keys')
    onClose()
    say(`${label} is revoked.`)
  }
  return (
    <FormDialog title={`Revoke ${label}?`} submit="Revoke" danger onClose={onClose} onSubmit={revoke}>
      <p>Whatever uses the key is refused from now on, and sessions that began with it end.</p>
    </FormDialog>
  )
}
