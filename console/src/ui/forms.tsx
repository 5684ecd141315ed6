import type { ComponentChildren, PartialInputHTMLAttributes, TextareaHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { words } from '../words.ts'

type Around = {
  label: string
  hint?: ComponentChildren
  wrong?: string | undefined
  doubt?: string | undefined
  full?: boolean | undefined
}

type FieldProps = { of: Around; control: (named: object) => ComponentChildren }

/** A control with its label, and with what is said of it. */
function Field({ of: { label, hint, wrong, doubt, full }, control }: FieldProps) {
  const id = useId()
  const said = wrong || doubt || hint
  return (
    <div class={full ? 'field full' : 'field'}>
      <label for={id}>{label}</label>
      {control({ id, ...(said ? { 'aria-describedby': `${id}-said` } : {}), ...(wrong ? { 'aria-invalid': true } : {}) })}
      {said && (
        <div id={`${id}-said`} class={wrong ? 'wrong' : doubt ? 'doubt' : 'hint'}>
          {said}
        </div>
      )}
    </div>
  )
}

type Typed = Around & { value: string; onText: (text: string) => void }

type TextProps = Typed &
  Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'value' | 'label' | 'id' | 'role' | 'type'> & {
    type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local' | 'url' | 'tel'
  }

export function TextField({ label, hint, wrong, doubt, full, onText, type = 'text', ...rest }: TextProps) {
  // Each type of input has a type of its own; which one it is does not matter here.
  const kind = { type } as { type: 'text' }
  return (
    <Field
      of={{ label, hint, wrong, doubt, full }}
      control={(named) => <input class="input" {...rest} {...kind} {...named} onInput={(e) => onText(e.currentTarget.value)} />}
    />
  )
}

type AreaProps = Typed & Omit<TextareaHTMLAttributes, 'value' | 'label' | 'id'>

export const AreaField = ({ label, hint, wrong, doubt, full, onText, ...rest }: AreaProps) => (
  <Field
    of={{ label, hint, wrong, doubt, full }}
    control={(named) => <textarea rows={3} class="input" {...rest} {...named} onInput={(e) => onText(e.currentTarget.value)} />}
  />
)

export type Option = string | [value: string, name: string]

type Chosen = { value: string; onChoose: (value: string) => void; options: readonly Option[]; none?: string; disabled?: boolean }

/** `none` is what stands for no choice. */
const Select = ({ value, onChoose, options, none, disabled, ...named }: Chosen & { class: string }) => (
  <select {...named} value={value} disabled={disabled} onChange={(e) => onChoose(e.currentTarget.value)}>
    {none !== undefined && <option value="">{none}</option>}
    {options.map((one) => {
      const [value, name] = typeof one === 'string' ? [one, words(one)] : one
      return (
        <option key={value} value={value}>
          {name}
        </option>
      )
    })}
  </select>
)

export const SelectField = ({ label, hint, wrong, doubt, full, ...chosen }: Around & Chosen) => (
  <Field of={{ label, hint, wrong, doubt, full }} control={(named) => <Select class="select" {...chosen} {...named} />} />
)

/** A choice in a bar of filters: its label is for screen readers. */
export const Choice = ({ label, ...chosen }: Chosen & { label: string }) => <Select class="select slim" aria-label={label} {...chosen} />

type CheckProps = { label: ComponentChildren; value: boolean; onCheck: (on: boolean) => void; disabled?: boolean }

export const Check = ({ label, value, onCheck, disabled }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={value} disabled={disabled} onChange={(e) => onCheck(e.currentTarget.checked)} />
    <span>{label}</span>
  </label>
)
