import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentParams } from '../../session.ts'
import { AsyncButton, Card, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { ErrorNotice, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { buildBindings, type Role, RoleFields } from './roles.tsx'

export function Invitations({ canManage }: { canManage: boolean }) {
  const { org_id } = deploymentParams()
  const fetchPage = (next_cursor: string | null) => api.listInvites({ params: { org_id }, query: { next_cursor } })
  const { data: invites, error, reload } = useQuery('invites', () => fetchAllPages(fetchPage, ({ invites }) => invites))
  const revoke = async (invite_id: string) => {
    await api.deleteInvite({ params: { org_id, invite_id } })
    refresh('invites')
    showToast('Invitation revoked.')
  }
  if (error) return <ErrorNotice error={error} onRetry={reload} />
  if (!invites?.length) return null
  return (
    <Card bare title="Pending invitations">
      <Table
        label="Pending invitations"
        rows={invites}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Email', cell: ({ email }) => email },
          { name: 'Role', cell: ({ role }) => <Status tone="idle">{humanize(role)}</Status> },
          { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} isRealTime /> },
          {
            name: 'Actions',
            right: true,
            cell: ({ id }) =>
              canManage ? (
                <AsyncButton small action={() => revoke(id)}>
                  Revoke
                </AsyncButton>
              ) : null,
          },
        ]}
      />
    </Card>
  )
}

/** Creates an invitation and shows its link once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('read_only')
  const [teams, setTeams] = useState<string[]>([])
  const [link, setLink] = useState<string>()
  const { org_id } = deploymentParams()
  const invite = async () => {
    const { link, status } = await api.createInvite({
      params: { org_id },
      body: { email: email.trim(), role, ...buildBindings(role, teams) },
    })
    refresh('invites')
    if (link) return setLink(link)
    onClose()
    showToast(status === 'already_in_org' ? 'This person is already in the organization.' : humanize(status))
  }
  if (link) return <InvitationLink link={link} onClose={onClose} />
  return (
    <FormDialog title="Invite member" submit="Create link" onClose={onClose} onSubmit={invite}>
      {(error) => (
        <>
          <TextField label="Email" type="email" required value={email} onText={setEmail} error={fieldErrors(error)['email']} />
          <RoleFields role={role} teams={teams} onRole={setRole} onTeams={setTeams} />
        </>
      )}
    </FormDialog>
  )
}

const InvitationLink = ({ link, onClose }: { link: string; onClose: () => void }) => (
  <SecretDialog
    title="Invitation link"
    secret={link}
    what="link"
    note="Assay does not email invitations. Share this link with the person. It is shown once, works once and expires in 7 days."
    onClose={onClose}
  />
)
