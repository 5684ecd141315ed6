import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, session } from '../../session.ts'
import { Button, Card, EmptyState, Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TimeOrNever } from '../../ui/key-list.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Invitations, InviteDialog } from './invitations.tsx'
import { ChangeRoleDialog } from './roles.tsx'

export type Member = Awaited<ReturnType<typeof api.listMembers>>['members'][number]

export function People() {
  const [isInviting, setIsInviting] = useState(false)
  const [editing, setEditing] = useState<Member>()
  const [removing, setRemoving] = useState<Member>()
  const { org_id } = deploymentParams()
  const fetchPage = (next_cursor: string | null) => api.listMembers({ params: { org_id }, query: { next_cursor } })
  const members = useQuery('members', () => fetchAllPages(fetchPage, ({ members }) => members))
  const canManage = can('org.manage')
  const inviteButton = canManage && (
    <Button kind="primary" onClick={() => setIsInviting(true)}>
      Invite a person
    </Button>
  )
  return (
    <>
      <PageHeader title="People" actions={inviteButton}>
        Everybody signs in by name, password and a second factor; the audit log names who did what.
      </PageHeader>
      <div class="stack">
        <Card bare title="Members">
          <QueryView query={members} isEmpty={(all) => !all.length} empty={<NoMembers inviteButton={inviteButton} />}>
            {(all) => (
              <Table
                label="Members"
                rows={all}
                keyOf={({ id }) => id}
                columns={[...columns, ...(canManage ? [actionColumn(setEditing, setRemoving)] : [])]}
              />
            )}
          </QueryView>
        </Card>
        <Invitations canManage={canManage} />
      </div>
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
      {editing && <ChangeRoleDialog member={editing} onClose={() => setEditing(undefined)} />}
      {removing && <RemoveDialog member={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}

const NoMembers = ({ inviteButton }: { inviteButton: ComponentChildren }) => (
  <EmptyState title="Nobody yet" actions={inviteButton}>
    You are signed in by a key. Invite yourself: a person has a role, a second factor and a name in the audit log; a key has none of them.
  </EmptyState>
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
  { name: 'Role', cell: ({ role }) => <Status tone="info">{humanize(role)}</Status> },
  {
    name: 'Teams',
    wide: true,
    cell: ({ team_role_bindings }) => team_role_bindings?.map(({ team_id }) => teamName(team_id)).join(', ') ?? 'All',
  },
  { name: 'Last sign-in', wide: true, right: true, cell: ({ last_sign_in_at }) => <TimeOrNever at={last_sign_in_at} /> },
]

const actionColumn = (onChange: (member: Member) => void, onRemove: (member: Member) => void): Column<Member> => ({
  name: 'Change',
  right: true,
  cell: (member) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(member)} aria-label={`Role of ${member.name}`}>
        Role…
      </Button>
      {member.id !== session.get()?.person?.id && (
        <Button small kind="danger" onClick={() => onRemove(member)} aria-label={`Remove ${member.name}`}>
          Remove
        </Button>
      )}
    </span>
  ),
})

function RemoveDialog({ member: { id, name }, onClose }: { member: Member; onClose: () => void }) {
  const { org_id } = deploymentParams()
  const remove = async () => {
    await api.deleteMember({ params: { org_id, person_id: id } })
    refresh('members')
    onClose()
    showToast(`${name} is removed.`)
  }
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove" danger onClose={onClose} onSubmit={remove}>
      <p>Their sessions end at once. What they did stays in the audit log.</p>
    </FormDialog>
  )
}
