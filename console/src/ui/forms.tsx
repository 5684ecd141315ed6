import type { ComponentChildren, PartialInputHTMLAttributes, TextareaHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { humanize } from '../format.ts'

type FieldLabels = {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  warning?: string | undefined
  full?: boolean | undefined
}

type FieldProps = { labels: FieldLabels; control: (attributes: object) => ComponentChildren }

function Field({ labels: { label, hint, error, warning, full }, control }: FieldProps) {
  const id = useId()
  const message = error || warning || hint
  return (
    <div class={full ? 'field full' : 'field'}>
      <label for={id}>{label}</label>
      {control({ id, ...(message ? { 'aria-describedby': `${id}-message` } : {}), ...(error ? { 'aria-invalid': true } : {}) })}
      {message && (
        <div id={`${id}-message`} class={error ? 'field-error' : warning ? 'field-warning' : 'hint'}>
          {message}
        </div>
      )}
    </div>
  )
}

type TextInput = FieldLabels & { value: string; onText: (text: string) => void }

type TextProps = TextInput &
  Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'value' | 'label' | 'id' | 'role' | 'type'> & {
    type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local' | 'url' | 'tel'
  }

export function TextField({ label, hint, error, warning, full, onText, type = 'text', ...rest }: TextProps) {
  // Preact types each input type separately; this field accepts several.
  const kind = { type } as { type: 'text' }
  return (
    <Field
      labels={{ label, hint, error, warning, full }}
      control={(attributes) => <input class="input" {...rest} {...kind} {...attributes} onInput={(e) => onText(e.currentTarget.value)} />}
    />
  )
}

type AreaProps = TextInput & Omit<TextareaHTMLAttributes, 'value' | 'label' | 'id'>

export const AreaField = ({ label, hint, error, warning, full, onText, ...rest }: AreaProps) => (
  <Field
    labels={{ label, hint, error, warning, full }}
    control={(attributes) => <textarea rows={3} class="input" {...rest} {...attributes} onInput={(e) => onText(e.currentTarget.value)} />}
  />
)

type Option = string | [value: string, name: string]

type SelectInput = {
  value: string
  onSelect: (value: string) => void
  options: readonly Option[]
  placeholder?: string
  disabled?: boolean
}

/** `placeholder` labels the empty value. */
const Select = ({ value, onSelect, options, placeholder, disabled, ...attributes }: SelectInput & { class: string }) => (
  <select {...attributes} value={value} disabled={disabled} onChange={(e) => onSelect(e.currentTarget.value)}>
    {placeholder !== undefined && <option value="">{placeholder}</option>}
    {options.map((option) => {
      const [value, name] = typeof option === 'string' ? [option, humanize(option)] : option
      return (
        <option key={value} value={value}>
          {name}
        </option>
      )
    })}
  </select>
)

export const SelectField = ({ label, hint, error, warning, full, ...select }: FieldLabels & SelectInput) => (
  <Field labels={{ label, hint, error, warning, full }} control={(attributes) => <Select class="select" {...select} {...attributes} />} />
)

/** The label is visible to screen readers only. */
export const FilterSelect = ({ label, ...select }: SelectInput & { label: string }) => (
  <Select class="select slim" aria-label={label} {...select} />
)

type CheckboxProps = { label: ComponentChildren; value: boolean; onChange: (on: boolean) => void; disabled?: boolean }

export const Checkbox = ({ label, value, onChange, disabled }: CheckboxProps) => (
  <label class="check">
    <input type="checkbox" checked={value} disabled={disabled} onChange={(e) => onChange(e.currentTarget.checked)} />
    <span>{label}</span>
  </label>
)
