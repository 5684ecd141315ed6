import type { ComponentChildren, PartialInputHTMLAttributes, TextareaHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { words } from '../words.ts'

type Around = { label: string; hint?: ComponentChildren; wrong?: string | undefined; doubt?: string | undefined; full?: boolean }

function useParts({ hint, wrong, doubt }: Around) {
  const id = useId()
  const said = Boolean(hint || wrong || doubt)
  return { id, describe: said ? { 'aria-describedby': `${id}-said` } : {}, invalid: wrong ? { 'aria-invalid': true } : {} }
}

const Around = ({ id, label, hint, wrong, doubt, full, children }: Around & { id: string; children: ComponentChildren }) => (
  <div class={full ? 'field full' : 'field'}>
    <label for={id}>{label}</label>
    {children}
    {(hint || wrong || doubt) && (
      <div id={`${id}-said`}>
        {wrong ? <div class="wrong">{wrong}</div> : doubt ? <div class="doubt">{doubt}</div> : <div class="hint">{hint}</div>}
      </div>
    )}
  </div>
)

type TextProps = Around & { value: string; onText: (text: string) => void } & Omit<
    PartialInputHTMLAttributes<HTMLInputElement>,
    'value' | 'label' | 'id' | 'role' | 'type'
  > & {
    type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local' | 'url' | 'tel'
  }

export function TextField({ label, hint, wrong, doubt, full, value, onText, type = 'text', ...rest }: TextProps) {
  const { id, describe, invalid } = useParts({ label, hint, wrong, doubt })
  // Each type of input has a type of its own; which one it is does not matter here.
  const kind = { type } as { type: 'text' }
  return (
    <Around {...{ id, label, hint, wrong, doubt, full }}>
      <input
        class="input"
        {...rest}
        {...kind}
        {...describe}
        {...invalid}
        id={id}
        value={value}
        onInput={(e) => onText(e.currentTarget.value)}
      />
    </Around>
  )
}

type AreaProps = Around & { value: string; onText: (text: string) => void } & Omit<TextareaHTMLAttributes, 'value' | 'label' | 'id'>

export function AreaField({ label, hint, wrong, doubt, full, value, onText, ...rest }: AreaProps) {
  const { id, describe, invalid } = useParts({ label, hint, wrong, doubt })
  return (
    <Around {...{ id, label, hint, wrong, doubt, full }}>
      <textarea
        rows={3}
        class="input"
        {...rest}
        {...describe}
        {...invalid}
        id={id}
        value={value}
        onInput={(e) => onText(e.currentTarget.value)}
      />
    </Around>
  )
}

export type Option = string | [value: string, name: string]

export const optionsOf = (options: readonly Option[]) =>
  options.map((one) => {
    const [value, name] = typeof one === 'string' ? [one, words(one)] : one
    return (
      <option key={value} value={value}>
        {name}
      </option>
    )
  })

type SelectProps = Around & {
  value: string
  onChoose: (value: string) => void
  options: readonly Option[]
  none?: string
  disabled?: boolean
}

export function SelectField({ label, hint, wrong, doubt, full, value, onChoose, options, none, disabled }: SelectProps) {
  const { id, describe, invalid } = useParts({ label, hint, wrong, doubt })
  return (
    <Around {...{ id, label, hint, wrong, doubt, full }}>
      <select
        class="select"
        {...describe}
        {...invalid}
        id={id}
        value={value}
        disabled={disabled}
        onChange={(e) => onChoose(e.currentTarget.value)}
      >
        {none !== undefined && <option value="">{none}</option>}
        {optionsOf(options)}
      </select>
    </Around>
  )
}

type CheckProps = { label: ComponentChildren; value: boolean; onCheck: (on: boolean) => void; disabled?: boolean }

export const Check = ({ label, value, onCheck, disabled }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={value} disabled={disabled} onChange={(e) => onCheck(e.currentTarget.checked)} />
    <span>{label}</span>
  </label>
)

type ChoiceProps = { label: string; value: string; onChoose: (value: string) => void; options: readonly Option[]; none?: string }

/** A choice in a bar of filters: its label is for screen readers. */
export const Choice = ({ label, value, onChoose, options, none }: ChoiceProps) => (
  <select class="select slim" aria-label={label} value={value} onChange={(e) => onChoose(e.currentTarget.value)}>
    {none !== undefined && <option value="">{none}</option>}
    {optionsOf(options)}
  </select>
)
