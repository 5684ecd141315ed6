import { Checkbox, SelectField } from './forms.tsx'

/** What messages contain. The select lists only contract values. */
export type FormatSettings = { format: string; include_client_user_id: boolean }

export const fullFormat: FormatSettings = { format: 'full', include_client_user_id: false }

const formats: [string, string][] = [
  ['full', 'The event with its data'],
  ['thin', 'IDs and a ticket, without personal data'],
]

type Props = { value: FormatSettings; onChange: (change: Partial<FormatSettings>) => void }

/** The format of a webhook or of a destination of a pipeline. */
export const FormatFields = ({ value, onChange }: Props) => (
  <>
    <SelectField label="Messages contain" value={value.format} options={formats} onSelect={(format) => onChange({ format })} />
    {value.format === 'thin' && (
      <Checkbox
        label="Include client_user_id"
        value={value.include_client_user_id}
        onChange={(include_client_user_id) => onChange({ include_client_user_id })}
      />
    )}
  </>
)
