import { type Failure, fieldProblems } from '../../api.ts'
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
export const sentFields = ({ types, ...fields }: Fields) => ({ ...fields, filter_types: typesOf(types) })

const orderings: [string, string][] = [
  ['per_key', 'Each order and user resource in its order'],
  ['strict', 'Everything in one order'],
  ['unordered', 'Each message on its own'],
]

const typesOf = (text: string) => {
  const types = text.split(/[\s,]+/).filter(Boolean)
  return types.length ? types : null
}

type FieldsProps = { fields: Fields; onChange: (fields: Fields) => void; error?: Failure | undefined }

export function WebhookFields({ fields, onChange, error }: FieldsProps) {
  const wrong = fieldProblems(error)
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
        wrong={wrong['url']}
      />
      <TextField
        full
        label="Description"
        value={fields.description}
        onText={(description) => set({ description })}
        wrong={wrong['description']}
      />
      <AreaField
        full
        label="Event types"
        hint="Empty takes all. One on each line; a type may end in *, as in labtest.order.*"
        value={fields.types}
        onText={(types) => set({ types })}
        wrong={Object.entries(wrong).find(([path]) => path.startsWith('filter_types'))?.[1]}
      />
      <SelectField
        label="Order of messages"
        value={fields.ordering}
        options={orderings}
        // The options above are the values of the contract.
        onChoose={(ordering) => set({ ordering: ordering as Fields['ordering'] })}
      />
      <TextField
        label="Messages a second at most"
        type="number"
        min="1"
        placeholder="No limit"
        value={fields.rate_limit?.toString() ?? ''}
        onText={(text) => set({ rate_limit: text ? Number(text) : null })}
        wrong={wrong['rate_limit']}
      />
    </div>
  )
}
