import { session } from '../session.ts'
import { Checkbox } from './forms.tsx'

/** Falls back to the short ID for a team outside the session. */
export const teamName = (id: string) => session.get()?.teams.find(({ team_id }) => team_id === id)?.name ?? id.slice(0, 8)

export const TeamCheckboxes = ({ selected, onChange }: { selected: string[]; onChange: (ids: string[]) => void }) => (
  <fieldset class="stack tight">
    <legend>Teams</legend>
    {session.get()?.teams.map(({ team_id, name }) => (
      <Checkbox
        key={team_id}
        label={name}
        value={selected.includes(team_id)}
        onChange={(on) => onChange(on ? [...selected, team_id] : selected.filter((selectedId) => selectedId !== team_id))}
      />
    ))}
  </fieldset>
)
