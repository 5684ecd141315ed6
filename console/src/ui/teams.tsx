import { session } from '../session.ts'
import { Check } from './forms.tsx'

/** A team by its name, where the session reaches it. */
export const teamName = (id: string) => session.get()?.teams.find(({ team_id }) => team_id === id)?.name ?? id.slice(0, 8)

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
