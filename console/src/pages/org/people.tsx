import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, session } from '../../session.ts'
import { Button, Card, Empty, Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { When } from '../../ui/key-list.tsx'
import { type Column, Loaded, Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'
import { Invitations, Invite } from './invitations.tsx'
import { ChangeRole } from './roles.tsx'

export type Member = Awaited<ReturnType<typeof api.listMembers>>['members'][number]

export function People() {
  const [inviting, setInviting] = useState(false)
  const [changed, setChanged] = useState<Member>()
  const [removed, setRemoved] = useState<Member>()
  const { org_id } = deploymentPath()
  const ask = (next_cursor: string | null) => api.listMembers({ params: { org_id }, query: { next_cursor } })
  const members = useQuery('members', () => whole(ask, ({ members }) => members))
  const canManage = may('org.manage')
  const invite = canManage && (
    <Button kind="primary" onClick={() => setInviting(true)}>
      Invite a person
    </Button>
  )
  return (
    <>
      <Head title="People" actions={invite}>
        Everybody signs in by name, password and a second factor; the audit log names who did what.
      </Head>
      <div class="stack">
        <Card bare title="Members">
          <Loaded of={members} isEmpty={(all) => !all.length} empty={<Nobody invite={invite} />}>
            {(all) => (
              <Table
                label="Members"
                rows={all}
                keyOf={({ id }) => id}
                columns={[...columns, ...(canManage ? [changes(setChanged, setRemoved)] : [])]}
              />
            )}
          </Loaded>
        </Card>
        <Invitations canManage={canManage} />
      </div>
      {inviting && <Invite onClose={() => setInviting(false)} />}
      {changed && <ChangeRole of={changed} onClose={() => setChanged(undefined)} />}
      {removed && <Remove of={removed} onClose={() => setRemoved(undefined)} />}
    </>
  )
}

const Nobody = ({ invite }: { invite: ComponentChildren }) => (
  <Empty title="Nobody yet" actions={invite}>
    You are signed in by a key. Invite yourself: a person has a role, a second factor and a name in the audit log; a key has none of them.
  </Empty>
)

const columns: Column<Member>[] = [
  {
    name: 'Person',
    cell: ({ name, email }) => (
      <>
        <strong>{name}</strong>
        <div class="small muted">{email}</div>
      </>
    ),
  },
  { name: 'Role', cell: ({ role }) => <Status tone="info">{words(role)}</Status> },
  {
    name: 'Teams',
    wide: true,
    cell: ({ team_role_bindings }) => team_role_bindings?.map(({ team_id }) => teamName(team_id)).join(', ') ?? 'All',
  },
  { name: 'Last sign-in', wide: true, right: true, cell: ({ last_sign_in_at }) => <When at={last_sign_in_at} /> },
]

const changes = (onChange: (of: Member) => void, onRemove: (of: Member) => void): Column<Member> => ({
  name: 'Change',
  right: true,
  cell: (one) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(one)} aria-label={`Role of ${one.name}`}>
        Role…
      </Button>
      {one.id !== session.get()?.person?.id && (
        <Button small kind="danger" onClick={() => onRemove(one)} aria-label={`Remove ${one.name}`}>
          Remove
        </Button>
      )}
    </span>
  ),
})

function Remove({ of: { id, name }, onClose }: { of: Member; onClose: () => void }) {
  const { org_id } = deploymentPath()
  const remove = async () => {
    await api.deleteMember({ params: { org_id, person_id: id } })
    refresh('members')
    onClose()
    say(`${name} is removed.`)
  }
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove" danger onClose={onClose} onSubmit={remove}>
      <p>Their sessions end at once. What they did stays in the audit log.</p>
    </FormDialog>
  )
}
