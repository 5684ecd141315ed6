import { useState } from 'preact/hooks'
import { type ApiError, api, fieldErrors } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, Notice } from '../../ui/basics.tsx'
import { TextField } from '../../ui/forms.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type KitLimits = Awaited<ReturnType<typeof api.getKitLimits>>

const fields: [name: keyof KitLimits, label: string][] = [
  ['to_customer_days', 'Days on the way to the patient'],
  ['with_customer_days', 'Days with the patient'],
  ['to_lab_days', 'Days on the way to the lab'],
]

export function Limits() {
  const limits = useQuery('kit-limits', () => api.getKitLimits())
  return (
    <Card title="Limits">
      <QueryView query={limits}>{(limits) => <Form limits={limits} />}</QueryView>
    </Card>
  )
}

const textOf = (days: number | null) => (days === null ? '' : String(days))

function Form({ limits }: { limits: KitLimits }) {
  const [texts, setTexts] = useState(Object.fromEntries(fields.map(([name]) => [name, textOf(limits[name])])))
  const [error, setError] = useState<ApiError>()
  const save = async () => {
    setError(undefined)
    const days = Object.fromEntries(fields.map(([name]) => [name, texts[name] ? Number(texts[name]) : null])) as KitLimits
    await api.putKitLimits({ body: days }).then(() => {
      refresh('kit-limits', 'overdue-kits')
      showToast('Limits saved.')
    }, setError)
  }
  const errors = fieldErrors(error)
  const isReadOnly = !can('data.change')
  return (
    <div class="stack">
      <p class="muted">
        A kit without a new step for this long is overdue. In transit, its order then shows a problem in transit. With the patient, Assay
        emits an alert. Leave a field empty for no limit.
      </p>
      <div class="form-grid">
        {fields.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            type="number"
            min={1}
            max={365}
            disabled={isReadOnly}
            value={texts[name] ?? ''}
            onText={(text) => setTexts({ ...texts, [name]: text })}
            error={errors[name]}
          />
        ))}
      </div>
      {error && <Notice tone="bad">{error.message}</Notice>}
      <div>
        <AsyncButton kind="primary" action={save} disabled={isReadOnly}>
          Save
        </AsyncButton>
      </div>
    </div>
  )
}
