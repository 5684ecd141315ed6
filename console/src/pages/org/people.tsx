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
      Invite member
    </Button>
  )
  return (
    <>
      <PageHeader title="People" actions={inviteButton}>
        People who can sign in to the console. Each signs in with a password and a second factor, and the audit log names them.
      </PageHeader>
      <div class="stack">
        <Card bare title="Members">
          <QueryView query={members} isEmpty={(members) => !members.length} empty={<NoMembers inviteButton={inviteButton} />}>
            {(members) => (
              <Table
                label="Members"
                rows={members}
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
  <EmptyState title="No members yet" actions={inviteButton}>
    You are signed in with a key. Invite yourself to sign in with a second factor and to appear by name in the audit log.
  </EmptyState>
)

const columns: Column<Member>[] = [
  {
    name: 'Member',
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
  name: 'Actions',
  right: true,
  cell: (member) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(member)} aria-label={`Change role of ${member.name}`}>
        Change role
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
    showToast(`Removed ${name}.`)
  }
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove member" danger onClose={onClose} onSubmit={remove}>
      <p>Their sessions end immediately. Their audit log entries remain.</p>
    </FormDialog>
  )
}
