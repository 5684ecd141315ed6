import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath } from '../../session.ts'
import { Card, Doing, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Failed, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'
import { bindingsOf, type Role, RoleFields } from './roles.tsx'

/** Who was invited and has not come yet. */
export function Invitations({ canManage }: { canManage: boolean }) {
  const { org_id } = deploymentPath()
  const ask = (next_cursor: string | null) => api.listInvites({ params: { org_id }, query: { next_cursor } })
  const { data: invites, error, reload } = useQuery('invites', () => whole(ask, ({ invites }) => invites))
  const takeBack = async (invite_id: string) => {
    await api.deleteInvite({ params: { org_id, invite_id } })
    refresh('invites')
    say('The invitation is taken back.')
  }
  if (error) return <Failed error={error} again={reload} />
  if (!invites?.length) return null
  return (
    <Card bare title="Invited">
      <Table
        label="Invitations"
        rows={invites}
        keyOf={({ id }) => id}
        columns={[
          { name: 'E-mail', cell: ({ email }) => email },
          { name: 'Role', cell: ({ role }) => <Status tone="idle">{words(role)}</Status> },
          { name: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} real /> },
          {
            name: 'Take back',
            right: true,
            cell: ({ id }) =>
              canManage ? (
                <Doing small act={() => takeBack(id)}>
                  Take back
                </Doing>
              ) : null,
          },
        ]}
      />
    </Card>
  )
}

/** Invites a person, then shows the link that makes it one. */
export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('org_admin')
  const [teams, setTeams] = useState<string[]>([])
  const [made, setMade] = useState<string>()
  const { org_id } = deploymentPath()
  const invite = async () => {
    const { link, status } = await api.createInvite({ params: { org_id }, body: { email: email.trim(), role, ...bindingsOf(role, teams) } })
    refresh('invites')
    if (link) return setMade(link)
    onClose()
    say(status === 'already_in_org' ? 'This person is in the organisation already.' : words(status))
  }
  if (made) return <HandOver link={made} onClose={onClose} />
  return (
    <FormDialog title="Invite a person" submit="Make the link" onClose={onClose} onSubmit={invite}>
      {(error) => (
        <>
          <TextField label="E-mail" type="email" required value={email} onText={setEmail} wrong={fieldProblems(error)['email']} />
          <RoleFields role={role} teams={teams} onRole={setRole} onTeams={setTeams} />
        </>
      )}
    </FormDialog>
  )
}

const HandOver = ({ link, onClose }: { link: string; onClose: () => void }) => (
  <ShownOnce
    title="Hand this link over"
    secret={link}
    what="link"
    note="No mail is sent. The link is shown once, works once and for 7 days."
    onClose={onClose}
  />
)
