import { type ApiError, fieldErrors } from '../../api.ts'
import { AreaField, SelectField, TextField } from '../../ui/forms.tsx'
import type { Webhook } from './list.tsx'

/** Event types are text as it was typed: a line that is just begun is no type yet. */
export type Fields = {
  url: string
  description: string
  types: string
  rate_limit: number | null
  ordering: 'per_key' | 'strict' | 'unordered'
}

export const emptyFields: Fields = { url: '', description: '', types: '', rate_limit: null, ordering: 'per_key' }

export const fieldsOf = ({ url, description, filter_types, rate_limit, ordering }: Webhook): Fields => ({
  url,
  description: description ?? '',
  types: filter_types?.join('\n') ?? '',
  rate_limit,
  ordering: ordering as Fields['ordering'],
})

/** What the service takes. */
export const fieldsToBody = ({ types, ...fields }: Fields) => ({ ...fields, filter_types: parseTypes(types) })

const orderings: [string, string][] = [
  ['per_key', 'Each order and user resource in its order'],
  ['strict', 'Everything in one order'],
  ['unordered', 'Each message on its own'],
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
        label="Address"
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
        hint="Empty takes all. One on each line; a type may end in *, as in labtest.order.*"
        value={fields.types}
        onText={(types) => set({ types })}
        error={Object.entries(errors).find(([path]) => path.startsWith('filter_types'))?.[1]}
      />
      <SelectField
        label="Order of messages"
        value={fields.ordering}
        options={orderings}
        // The options above are the values of the contract.
        onSelect={(ordering) => set({ ordering: ordering as Fields['ordering'] })}
      />
      <TextField
        label="Messages a second at most"
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
