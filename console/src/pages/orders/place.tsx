import '../../style/orders.css'
import { useMemo, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { go, useSearch } from '../../router.tsx'
import { may } from '../../session.ts'
import { Button, Card, Empty, Notice } from '../../ui/basics.tsx'
import { Check, SelectField, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { useSubmit } from '../../ui/submit.ts'
import { say } from '../../ui/toasts.tsx'
import { letGo, useUnsaved } from '../../unsaved.ts'
import { words } from '../../words.ts'
import { refreshOrder } from './actions.tsx'
import { Questions } from './aoe.tsx'
import { Consents } from './consents.tsx'
import { type Draft, emptyDraft, orderOf } from './draft.ts'
import { PickTest } from './pick-test.tsx'
import { PickUser } from './pick-user.tsx'
import { type Finding, findingsBy, Preflight, usePreflight } from './preflight.tsx'

type FieldsProps = {
  draft: Draft
  set: (path: string) => (text: string) => void
  about: (path: string) => { wrong?: string; doubt?: string }
}

export const PlaceOrder = () =>
  may('data.change') ? (
    <Form />
  ) : (
    <>
      <Head up={['/orders', 'Orders']} title="Place an order" />
      <Empty title="Your role places no orders">An administrator of the organisation can give you another one.</Empty>
    </>
  )

function Form() {
  const search = useSearch()
  const [draft, setDraft] = useState<Draft>(() => ({ ...emptyDraft(), user_id: search.get('user_id') ?? '' }))
  const [touched, setTouched] = useState<Set<string>>(new Set())
  const [pressed, setPressed] = useState(false)
  const [isTyped, setTyped] = useState(false)
  useUnsaved(isTyped)
  const body = orderOf(draft)
  const { findings, checking, failure } = usePreflight(body)
  // Pressed again after an answer that was lost, the same order is still one.
  const key = useMemo(() => crypto.randomUUID(), [JSON.stringify(body)])
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }))
  const set = (path: string) => (text: string) => {
    setTouched((now) => new Set(now).add(path))
    setDraft((now) => ({ ...now, text: { ...now.text, [path]: text } }))
  }
  const shown = (path: string) => pressed || touched.has(path)
  const about = (path: string) => wordsAbout(findingsBy(findings, path), shown(path))
  const { busy, error, send } = useSubmit(async () => {
    setPressed(true)
    if (findings?.some(({ severity }) => severity === 'hard')) return document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    const headers = { 'x-idempotency-key': key, 'x-idempotency-error': 'no-cache' } as const
    const { order } = await api.createOrder({ body, headers })
    refreshOrder(order.id)
    say('The order is placed.')
    letGo()
    go(`/orders/${order.id}`)
  })
  return (
    <form onSubmit={send} onInput={() => setTyped(true)} noValidate>
      <Head up={['/orders', 'Orders']} title="Place an order">
        It is checked while you type, by the rules that the lab's side will apply.
      </Head>
      <div class="columns">
        <div class="stack">
          <Card title="Who and what">
            <div class="stack">
              <PickUser
                user_id={draft.user_id}
                {...about('user_id')}
                onPick={(user_id) => change({ user_id })}
                onInfo={(text) => change({ text: { ...draft.text, ...text } })}
              />
              <PickTest test={draft.lab_test} {...about('order_set')} onPick={(lab_test) => change({ lab_test, answers: {} })} />
            </div>
          </Card>
          <Questions
            draft={draft}
            findings={pressed || Object.keys(draft.answers).length ? findings : undefined}
            onAnswer={(answers) => change({ answers })}
          />
          <Patient draft={draft} set={set} about={about} />
          <Address draft={draft} set={set} about={about} />
          <Consents given={draft.consents} onChange={(consents) => change({ consents })} />
          <Options draft={draft} set={set} about={about} onChange={change} />
        </div>
        <Preflight findings={findings} checking={checking} failure={failure} shown={shown}>
          {error && <Notice tone="bad">{error.message}</Notice>}
          <Button type="submit" kind="primary" disabled={busy} aria-busy={busy}>
            Place order
          </Button>
        </Preflight>
      </div>
    </form>
  )
}

function wordsAbout(found: Finding[], shown: boolean) {
  const hard = found.find(({ severity }) => severity === 'hard')
  const soft = found.find(({ severity }) => severity !== 'hard')
  return { ...(hard && shown ? { wrong: hard.message } : {}), ...(soft ? { doubt: soft.message } : {}) }
}

const textField = ({ draft, set, about }: FieldsProps, path: string, label: string, rest: object) => (
  <TextField label={label} data-path={path} value={draft.text[path] ?? ''} onText={set(path)} {...about(path)} {...rest} />
)

const Patient = (props: FieldsProps) => {
  const { draft, set, about } = props
  const text = (name: string, label: string, rest: object = {}) =>
    textField(props, `patient_details.${name}`, label, { autocomplete: 'off', ...rest })
  return (
    <Card title="Patient">
      <div class="form-grid">
        {text('first_name', 'First name')}
        {text('last_name', 'Last name')}
        {text('dob', 'Date of birth', { type: 'date' })}
        <SelectField
          label="Gender"
          none="Choose"
          value={draft.text['patient_details.gender'] ?? ''}
          options={['female', 'male', 'other', 'unknown']}
          onChoose={set('patient_details.gender')}
          {...about('patient_details.gender')}
        />
        {text('phone_number', 'Phone', { type: 'tel', placeholder: '+12025550143' })}
        {text('email', 'E-mail', { type: 'email' })}
      </div>
    </Card>
  )
}

const Address = (props: FieldsProps) => {
  const text = (name: string, label: string, rest: object = {}) =>
    textField(props, `patient_address.${name}`, label, { autocomplete: 'off', ...rest })
  return (
    <Card title="Address">
      <div class="form-grid">
        {text('first_line', 'Street', { full: true })}
        {text('second_line', 'Apartment')}
        {text('city', 'City')}
        {text('state', 'State', { maxLength: 2, placeholder: 'AZ' })}
        {text('zip', 'ZIP', { inputMode: 'numeric' })}
      </div>
    </Card>
  )
}

const billing = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']

const Options = (props: FieldsProps & { onChange: (part: Partial<Draft>) => void }) => {
  const { draft, set, about, onChange } = props
  const text = (path: string, label: string, rest: object = {}) => textField(props, path, label, rest)
  return (
    <Card title="Options">
      <div class="form-grid">
        <SelectField
          label="Billing"
          value={draft.text['billing_type'] ?? ''}
          options={billing.map((one) => [one, words(one)])}
          onChoose={set('billing_type')}
          {...about('billing_type')}
        />
        {text('activate_by', 'Hold until', { type: 'date', hint: 'Empty: it goes to the lab at once.' })}
        {text('physician.first_name', "Physician's first name")}
        {text('physician.last_name', "Physician's last name")}
        {text('physician.npi', 'NPI', { inputMode: 'numeric' })}
        {text('clinical_notes', 'Clinical notes')}
        {text('passthrough', 'Passthrough', { hint: 'Anything of yours; it comes back with the order.' })}
        <div class="full stack tight">
          <Check label="Priority (STAT)" value={draft.priority} onCheck={(priority) => onChange({ priority })} />
        </div>
      </div>
    </Card>
  )
}
