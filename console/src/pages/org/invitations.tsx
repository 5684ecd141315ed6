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

/** Who was invited and has not come yet. */
export function Invitations({ canManage }: { canManage: boolean }) {
  const { org_id } = deploymentParams()
  const fetchPage = (next_cursor: string | null) => api.listInvites({ params: { org_id }, query: { next_cursor } })
  const { data: invites, error, reload } = useQuery('invites', () => fetchAllPages(fetchPage, ({ invites }) => invites))
  const revoke = async (invite_id: string) => {
    await api.deleteInvite({ params: { org_id, invite_id } })
    refresh('invites')
    showToast('The invitation is taken back.')
  }
  if (error) return <ErrorNotice error={error} onRetry={reload} />
  if (!invites?.length) return null
  return (
    <Card bare title="Invited">
      <Table
        label="Invitations"
        rows={invites}
        keyOf={({ id }) => id}
        columns={[
          { name: 'E-mail', cell: ({ email }) => email },
          { name: 'Role', cell: ({ role }) => <Status tone="idle">{humanize(role)}</Status> },
          { name: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} isRealTime /> },
          {
            name: 'Take back',
            right: true,
            cell: ({ id }) =>
              canManage ? (
                <AsyncButton small action={() => revoke(id)}>
                  Take back
                </AsyncButton>
              ) : null,
          },
        ]}
      />
    </Card>
  )
}

/** Invites a person, then shows the link that makes it one. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('org_admin')
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
    showToast(status === 'already_in_org' ? 'This person is in the organisation already.' : humanize(status))
  }
  if (link) return <InvitationLink link={link} onClose={onClose} />
  return (
    <FormDialog title="Invite a person" submit="Make the link" onClose={onClose} onSubmit={invite}>
      {(error) => (
        <>
          <TextField label="E-mail" type="email" required value={email} onText={setEmail} error={fieldErrors(error)['email']} />
          <RoleFields role={role} teams={teams} onRole={setRole} onTeams={setTeams} />
        </>
      )}
    </FormDialog>
  )
}

const InvitationLink = ({ link, onClose }: { link: string; onClose: () => void }) => (
  <SecretDialog
    title="Hand this link over"
    secret={link}
    what="link"
    note="No mail is sent. The link is shown once, works once and for 7 days."
    onClose={onClose}
  />
)
