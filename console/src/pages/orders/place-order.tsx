import '../../style/orders.css'
import { useMemo, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { navigate, useSearchParams } from '../../router.tsx'
import { can } from '../../session.ts'
import { Button, Card, EmptyState, Notice } from '../../ui/basics.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useSubmit } from '../../ui/submit.ts'
import { showToast } from '../../ui/toasts.tsx'
import { discardChanges, useUnsavedWarning } from '../../unsaved.ts'
import { refreshOrder } from './actions.tsx'
import { Questions } from './aoe.tsx'
import { Consents } from './consents.tsx'
import { buildOrder, emptyOrderForm, type OrderForm } from './order-form.ts'
import { PickTest } from './pick-test.tsx'
import { PickUser } from './pick-user.tsx'
import { describeFinding, type Finding, findingsAt, Preflight, usePreflight } from './preflight.tsx'

type FieldsProps = {
  form: OrderForm
  set: (path: string) => (text: string) => void
  findingsFor: (path: string) => { error?: string; warning?: string }
}

export const PlaceOrder = () =>
  can('data.change') ? (
    <OrderFormPage />
  ) : (
    <>
      <PageHeader up={['/orders', 'Orders']} title="Place order" />
      <EmptyState title="Your role can't place orders">Ask an organization administrator to change your role.</EmptyState>
    </>
  )

function OrderFormPage() {
  const search = useSearchParams()
  const [form, setForm] = useState<OrderForm>(() => ({ ...emptyOrderForm(), user_id: search.get('user_id') ?? '' }))
  const [touchedPaths, setTouchedPaths] = useState<Set<string>>(new Set())
  const [isSubmitted, setIsSubmitted] = useState(false)
  const [isDirty, setIsDirty] = useState(false)
  useUnsavedWarning(isDirty)
  const body = buildOrder(form)
  const { findings, isChecking, error: checkError } = usePreflight(body)
  // A form keeps its key, so a resubmission after a lost response creates no second order.
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [JSON.stringify(body)])
  const change = (part: Partial<OrderForm>) => setForm((form) => ({ ...form, ...part }))
  const set = (path: string) => (text: string) => {
    setTouchedPaths((paths) => new Set(paths).add(path))
    setForm((form) => ({ ...form, text: { ...form.text, [path]: text } }))
  }
  const isShown = (path: string) => isSubmitted || touchedPaths.has(path)
  const findingsFor = (path: string) => fieldMessages(findingsAt(findings, path), isShown(path))
  const { isBusy, error, submit } = useSubmit(async () => {
    setIsSubmitted(true)
    if (findings?.some(({ severity }) => severity === 'hard')) return document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    const headers = { 'x-idempotency-key': idempotencyKey, 'x-idempotency-error': 'no-cache' } as const
    const { order } = await api.createOrder({ body, headers })
    refreshOrder(order.id)
    showToast('Order placed.')
    discardChanges()
    navigate(`/orders/${order.id}`)
  })
  return (
    <form onSubmit={submit} onInput={() => setIsDirty(true)} noValidate>
      <PageHeader up={['/orders', 'Orders']} title="Place order">
        The form checks the order as you type, with the same rules as the API.
      </PageHeader>
      <div class="columns">
        <div class="stack">
          <Card title="User and lab test">
            <div class="stack">
              <PickUser
                user_id={form.user_id}
                {...findingsFor('user_id')}
                onPick={(user_id) => change({ user_id })}
                onInfo={(text) => change({ text: { ...form.text, ...text } })}
              />
              <PickTest test={form.lab_test} {...findingsFor('order_set')} onPick={(lab_test) => change({ lab_test, answers: {} })} />
            </div>
          </Card>
          <Questions
            form={form}
            findings={isSubmitted || Object.keys(form.answers).length ? findings : undefined}
            onAnswer={(answers) => change({ answers })}
          />
          <Patient form={form} set={set} findingsFor={findingsFor} />
          <Address form={form} set={set} findingsFor={findingsFor} />
          <Consents given={form.consents} onChange={(consents) => change({ consents })} />
          <Options form={form} set={set} findingsFor={findingsFor} onChange={change} />
        </div>
        <Preflight findings={findings} isChecking={isChecking} error={checkError} isShown={isShown}>
          {error && <Notice tone="bad">{error.message}</Notice>}
          <Button type="submit" kind="primary" disabled={isBusy} aria-busy={isBusy}>
            Place order
          </Button>
        </Preflight>
      </div>
    </form>
  )
}

function fieldMessages(findings: Finding[], isShown: boolean) {
  const hard = findings.find(({ severity }) => severity === 'hard')
  const soft = findings.find(({ severity }) => severity !== 'hard')
  return { ...(hard && isShown ? { error: describeFinding(hard) } : {}), ...(soft ? { warning: soft.message } : {}) }
}

const renderTextField = ({ form, set, findingsFor }: FieldsProps, path: string, label: string, rest: object) => (
  <TextField label={label} data-path={path} value={form.text[path] ?? ''} onText={set(path)} {...findingsFor(path)} {...rest} />
)

const Patient = (props: FieldsProps) => {
  const { form, set, findingsFor } = props
  const text = (name: string, label: string, rest: object = {}) =>
    renderTextField(props, `patient_details.${name}`, label, { autocomplete: 'off', ...rest })
  return (
    <Card title="Patient">
      <div class="form-grid">
        {text('first_name', 'First name')}
        {text('last_name', 'Last name')}
        {text('dob', 'Date of birth', { type: 'date' })}
        <SelectField
          label="Gender"
          placeholder="Select"
          value={form.text['patient_details.gender'] ?? ''}
          options={['female', 'male', 'other', 'unknown']}
          onSelect={set('patient_details.gender')}
          {...findingsFor('patient_details.gender')}
        />
        {text('phone_number', 'Phone', { type: 'tel', placeholder: '+12025550143' })}
        {text('email', 'Email', { type: 'email' })}
      </div>
    </Card>
  )
}

const Address = (props: FieldsProps) => {
  const text = (name: string, label: string, rest: object = {}) =>
    renderTextField(props, `patient_address.${name}`, label, { autocomplete: 'off', ...rest })
  return (
    <Card title="Address">
      <div class="form-grid">
        {text('first_line', 'Street', { full: true })}
        {text('second_line', 'Apartment or suite')}
        {text('city', 'City')}
        {text('state', 'State', { maxLength: 2, placeholder: 'AZ' })}
        {text('zip', 'ZIP code', { inputMode: 'numeric' })}
      </div>
    </Card>
  )
}

const billingTypes = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']

const Options = (props: FieldsProps & { onChange: (part: Partial<OrderForm>) => void }) => {
  const { form, set, findingsFor, onChange } = props
  const text = (path: string, label: string, rest: object = {}) => renderTextField(props, path, label, rest)
  return (
    <Card title="Options">
      <div class="form-grid">
        <SelectField
          label="Billing"
          value={form.text['billing_type'] ?? ''}
          options={billingTypes.map((type) => [type, humanize(type)])}
          onSelect={set('billing_type')}
          {...findingsFor('billing_type')}
        />
        {text('activate_by', 'Hold until', { type: 'date', hint: 'Leave empty to send the order to the lab now.' })}
        {text('physician.first_name', 'Physician first name')}
        {text('physician.last_name', 'Physician last name')}
        {text('physician.npi', 'NPI', { inputMode: 'numeric' })}
        {text('clinical_notes', 'Clinical notes')}
        {text('passthrough', 'Passthrough', { hint: 'Your own reference. Assay returns it with the order.' })}
        <div class="full stack tight">
          <Checkbox label="Priority (STAT)" value={form.priority} onChange={(priority) => onChange({ priority })} />
        </div>
      </div>
    </Card>
  )
}
