import { type ApiError, fieldErrors } from '../../api.ts'
import { FormatFields } from '../../ui/format-fields.tsx'
import { AreaField, SelectField, TextField } from '../../ui/forms.tsx'
import type { Webhook } from './list.tsx'

/** `types` is raw input, because an unfinished line is not an event type yet. */
type Fields = {
  url: string
  description: string
  types: string
  rate_limit: number | null
  ordering: 'per_key' | 'strict' | 'unordered'
  format: 'full' | 'thin'
  include_client_user_id: boolean
}

export const emptyFields: Fields = {
  url: '',
  description: '',
  types: '',
  rate_limit: null,
  ordering: 'per_key',
  format: 'full',
  include_client_user_id: false,
}

export const fieldsOf = ({ url, description, filter_types, rate_limit, ordering, format, include_client_user_id }: Webhook): Fields => ({
  url,
  description: description ?? '',
  types: filter_types?.join('\n') ?? '',
  rate_limit,
  ordering: ordering as Fields['ordering'],
  format: format as Fields['format'],
  include_client_user_id,
})

export const fieldsToBody = ({ types, ...fields }: Fields) => ({ ...fields, filter_types: parseTypes(types) })

const orderings: [string, string][] = [
  ['per_key', 'Per lab order or resource'],
  ['strict', 'All messages'],
  ['unordered', 'None'],
]

const parseTypes = (text: string) => {
  const types = text.split(/[\s,]+/).filter(Boolean)
  return types.length ? types : null
}

type FieldsProps = { fields: Fields; onChange: (fields: Fields) => void; error?: ApiError | undefined }

export function WebhookFields({ fields, onChange, error }: FieldsProps) {
  const errors = fieldErrors(error)
  const set = (part: Partial<Fields>) => onChange({ ...fields, ...part })
  return (
    <div class="form-grid">
      <TextField
        full
        label="URL"
        type="url"
        required
        placeholder="https://example.com/webhooks"
        value={fields.url}
        onText={(url) => set({ url })}
        error={errors['url']}
      />
      <TextField
        full
        label="Description"
        value={fields.description}
        onText={(description) => set({ description })}
        error={errors['description']}
      />
      <AreaField
        full
        label="Event types"
        hint="One per line. A type can end in *, such as labtest.order.*. Leave empty for all events."
        value={fields.types}
        onText={(types) => set({ types })}
        error={Object.entries(errors).find(([path]) => path.startsWith('filter_types'))?.[1]}
      />
      <SelectField
        label="Ordering"
        value={fields.ordering}
        options={orderings}
        // The select lists only contract values.
        onSelect={(ordering) => set({ ordering: ordering as Fields['ordering'] })}
      />
      <FormatFields value={fields} onChange={(change) => set(change as Partial<Fields>)} />
      <TextField
        label="Messages per second"
        type="number"
        min="1"
        placeholder="No limit"
        value={fields.rate_limit?.toString() ?? ''}
        onText={(text) => set({ rate_limit: text ? Number(text) : null })}
        error={errors['rate_limit']}
      />
    </div>
  )
}
