import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentParams } from '../../session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/forms.tsx'
import { TeamCheckboxes } from '../../ui/teams.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Member } from './people.tsx'

export type Role = NonNullable<Parameters<typeof api.createInvite>[0]['body']['role']>

const roles: [Role, string][] = [
  ['org_admin', 'Org admin: full access'],
  ['team_admin', 'Team admin: full access to selected teams'],
  ['support', 'Support: masked data, acknowledges critical results'],
  ['read_only', 'Read only: masked data, no changes'],
]

const isTeamRole = (role: Role) => role === 'team_admin' || role === 'support' || role === 'read_only'

type RoleProps = { role: Role; teams: string[]; onRole: (role: Role) => void; onTeams: (ids: string[]) => void }

export const RoleFields = ({ role, teams, onRole, onTeams }: RoleProps) => (
  <>
    <SelectField
      label="Role"
      value={role}
      options={roles}
      // The select lists only contract values.
      onSelect={(value) => onRole(value as Role)}
    />
    {isTeamRole(role) && (
      <TeamCheckboxes
        selected={teams}
        onChange={onTeams}
        hint={role === 'team_admin' ? 'Select at least one team.' : 'Select no team to give access to every team.'}
      />
    )}
  </>
)

export const buildBindings = (role: Role, teams: string[]) =>
  isTeamRole(role) && teams.length ? { team_role_bindings: teams.map((team_id) => ({ team_id })) } : {}

export function ChangeRoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const [role, setRole] = useState(member.role as Role)
  const [teams, setTeams] = useState(member.team_role_bindings?.map(({ team_id }) => team_id) ?? [])
  const { org_id } = deploymentParams()
  const save = async () => {
    await api.patchMember({ params: { org_id, person_id: member.id }, body: { role, ...buildBindings(role, teams) } })
    refresh('members')
    onClose()
    showToast('Role updated.')
  }
  return (
    <FormDialog title={`Change role of ${member.name}`} submit="Save" onClose={onClose} onSubmit={save}>
      <RoleFields role={role} teams={teams} onRole={setRole} onTeams={setTeams} />
    </FormDialog>
  )
}
