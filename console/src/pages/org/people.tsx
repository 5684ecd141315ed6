import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, session } from '../../session.ts'
import { Button, Card, Doing, Empty, Status, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { TeamChecks, teamName } from '../../ui/teams.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'

type Member = Awaited<ReturnType<typeof api.listMembers>>['members'][number]
type Role = NonNullable<Parameters<typeof api.createInvite>[0]['body']['role']>

const roles: [Role, string][] = [
  ['org_admin', 'Organisation: everything'],
  ['team_admin', 'Team: everything in some teams'],
  ['support', 'Support: sees data, masked until revealed'],
  ['read_only', 'Read only'],
]

const bound = (role: Role) => role === 'team_admin' || role === 'support' || role === 'read_only'

export function People() {
  const [inviting, setInviting] = useState(false)
  const [link, setLink] = useState<string>()
  const [changed, setChanged] = useState<Member>()
  const [removed, setRemoved] = useState<Member>()
  const { org_id } = deploymentPath()
  const members = useQuery('members', () => api.listMembers({ params: { org_id } }))
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
          <Loaded
            of={members}
            isEmpty={({ members }) => !members.length}
            empty={
              <Empty title="Nobody yet" actions={invite}>
                You are signed in by a key. Invite yourself: a person has a role, a second factor and a name in the audit log; a key has
                none of them.
              </Empty>
            }
          >
            {({ members }) => (
              <Table
                label="Members"
                rows={members}
                keyOf={({ id }) => id}
                columns={[
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
                  {
                    name: 'Last sign-in',
                    wide: true,
                    right: true,
                    cell: ({ last_sign_in_at }) => (last_sign_in_at ? <Time at={last_sign_in_at} real /> : 'Never'),
                  },
                  {
                    name: 'Change',
                    right: true,
                    cell: (one) =>
                      canManage ? (
                        <span class="row wrap">
                          <Button small onClick={() => setChanged(one)} aria-label={`Role of ${one.name}`}>
                            Role…
                          </Button>
                          {one.id !== session.get()?.person?.id && (
                            <Button small kind="danger" onClick={() => setRemoved(one)} aria-label={`Remove ${one.name}`}>
                              Remove
                            </Button>
                          )}
                        </span>
                      ) : null,
                  },
                ]}
              />
            )}
          </Loaded>
        </Card>
        <Invitations canManage={canManage} />
      </div>
      {inviting && (
        <Invite
          onClose={() => setInviting(false)}
          onLink={(link) => {
            setInviting(false)
            setLink(link)
          }}
        />
      )}
      {link && <HandOver link={link} onClose={() => setLink(undefined)} />}
      {changed && <ChangeRole of={changed} onClose={() => setChanged(undefined)} />}
      {removed && <Remove of={removed} onClose={() => setRemoved(undefined)} />}
    </>
  )
}

function Invitations({ canManage }: { canManage: boolean }) {
  const { org_id } = deploymentPath()
  const invites = useQuery('invites', () => api.listInvites({ params: { org_id } }))
  const takeBack = async (invite_id: string) => {
    await api.deleteInvite({ params: { org_id, invite_id } })
    refresh('invites')
    say('The invitation is taken back.')
  }
  if (!invites.data?.invites.length) return null
  return (
    <Card bare title="Invited">
      <Table
        label="Invitations"
        rows={invites.data.invites}
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

type RoleProps = { role: Role; teams: string[]; onRole: (role: Role) => void; onTeams: (ids: string[]) => void }

const RoleFields = ({ role, teams, onRole, onTeams }: RoleProps) => (
  <>
    <SelectField
      label="Role"
      value={role}
      options={roles}
      // The options above are the values of the contract.
      onChoose={(value) => onRole(value as Role)}
    />
    {bound(role) && <TeamChecks chosen={teams} onChange={onTeams} />}
  </>
)

const bindingsOf = (role: Role, teams: string[]) =>
  bound(role) && teams.length ? { team_role_bindings: teams.map((team_id) => ({ team_id })) } : {}

function Invite({ onClose, onLink }: { onClose: () => void; onLink: (link: string) => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('org_admin')
  const [teams, setTeams] = useState<string[]>([])
  const { org_id } = deploymentPath()
  const invite = async () => {
    const { link, status } = await api.createInvite({ params: { org_id }, body: { email: email.trim(), role, ...bindingsOf(role, teams) } })
    refresh('invites')
    if (link) return onLink(link)
    onClose()
    say(status === 'already_in_org' ? 'This person is in the organisation already.' : words(status))
  }
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

function ChangeRole({ of, onClose }: { of: Member; onClose: () => void }) {
  const [role, setRole] = useState(of.role as Role)
  const [teams, setTeams] = useState(of.team_role_bindings?.map(({ team_id }) => team_id) ?? [])
  const { org_id } = deploymentPath()
  const save = async () => {
    await api.patchMember({ params: { org_id, person_id: of.id }, body: { role, ...bindingsOf(role, teams) } })
    refresh('members')
    onClose()
    say('The role counts from now on.')
  }
  return (
    <FormDialog title={`Role of ${of.name}`} submit="Save" onClose={onClose} onSubmit={save}>
      <RoleFields role={role} teams={teams} onRole={setRole} onTeams={setTeams} />
    </FormDialog>
  )
}

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
