import { shortId } from '../format.ts'
import { session } from '../session.ts'
import { Checkbox } from './forms.tsx'

/** Falls back to the short ID for a team outside the session. */
export const teamName = (id: string) => session.get()?.teams.find(({ team_id }) => team_id === id)?.name ?? shortId(id)

type TeamCheckboxesProps = { selected: string[]; onChange: (ids: string[]) => void; hint: string }

export const TeamCheckboxes = ({ selected, onChange, hint }: TeamCheckboxesProps) => (
  <fieldset class="stack tight">
    <legend>Teams</legend>
    <p class="small muted">{hint}</p>
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
