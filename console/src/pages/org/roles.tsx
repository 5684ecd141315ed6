import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentPath } from '../../session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/forms.tsx'
import { TeamChecks } from '../../ui/teams.tsx'
import { say } from '../../ui/toasts.tsx'
import type { Member } from './people.tsx'

export type Role = NonNullable<Parameters<typeof api.createInvite>[0]['body']['role']>

const roles: [Role, string][] = [
  ['org_admin', 'Organisation: everything'],
  ['team_admin', 'Team: everything in some teams'],
  ['support', 'Support: sees data, always masked'],
  ['read_only', 'Read only'],
]

const isBound = (role: Role) => role === 'team_admin' || role === 'support' || role === 'read_only'

type RoleProps = { role: Role; teams: string[]; onRole: (role: Role) => void; onTeams: (ids: string[]) => void }

export const RoleFields = ({ role, teams, onRole, onTeams }: RoleProps) => (
  <>
    <SelectField
      label="Role"
      value={role}
      options={roles}
      // The options above are the values of the contract.
      onChoose={(value) => onRole(value as Role)}
    />
    {isBound(role) && <TeamChecks chosen={teams} onChange={onTeams} />}
  </>
)

export const bindingsOf = (role: Role, teams: string[]) =>
  isBound(role) && teams.length ? { team_role_bindings: teams.map((team_id) => ({ team_id })) } : {}

export function ChangeRole({ of, onClose }: { of: Member; onClose: () => void }) {
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
