import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type ApiError, api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { Card, Notice, Status } from '../../ui/basics.tsx'
import type { NewOrder } from './order-form.ts'

export type Finding = Awaited<ReturnType<typeof api.validateOrder>>['problems'][number]

const DEBOUNCE_MS = 300

/** Validates the order on the server whenever typing pauses. */
export function usePreflight(order: NewOrder) {
  const [findings, setFindings] = useState<Finding[]>()
  const [isChecking, setIsChecking] = useState(true)
  const [error, setError] = useState<ApiError>()
  const text = JSON.stringify(order)
  useEffect(() => {
    let isCurrent = true
    setIsChecking(true)
    const timer = setTimeout(async () => {
      const result = await api.validateOrder({ body: JSON.parse(text) }).then(
        ({ problems }) => ({ problems, error: undefined }),
        (error: ApiError) => ({ problems: undefined, error }),
      )
      if (!isCurrent) return
      setIsChecking(false)
      setFindings(result.problems)
      setError(result.error)
    }, DEBOUNCE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return { findings, isChecking, error }
}

export const pathOf = ({ path }: Finding) => path.slice(1).join('.')

export const findingsAt = (findings: Finding[] | undefined, path: string) =>
  (findings ?? []).filter((finding) => pathOf(finding) === path || pathOf(finding).startsWith(`${path}.`))

type PreflightProps = {
  findings: Finding[] | undefined
  isChecking: boolean
  error: ApiError | undefined
  isShown: (path: string) => boolean
  children: ComponentChildren
}

export function Preflight({ findings, isChecking, error, isShown, children }: PreflightProps) {
  const errors = (findings ?? []).filter(({ severity }) => severity === 'hard')
  const shownErrors = errors.filter((finding) => isShown(pathOf(finding)) || !isRequiredField(pathOf(finding)))
  const missingFields = errors.filter((finding) => !shownErrors.includes(finding))
  const warnings = (findings ?? []).filter(({ severity }) => severity !== 'hard')
  return (
    <div class="stack sticky">
      <Card
        title="Order check"
        actions={
          <span aria-live="polite">
            {isChecking ? (
              <Status tone="idle">Checking…</Status>
            ) : error ? (
              <Status tone="warn">Not checked</Status>
            ) : errors.length ? (
              <Status tone={shownErrors.length ? 'bad' : 'idle'}>
                {shownErrors.length ? pluralize(shownErrors.length, 'problem') : `${pluralize(errors.length, 'field')} missing`}
              </Status>
            ) : (
              <Status tone="good">Ready</Status>
            )}
          </span>
        }
      >
        <div class="stack">
          {missingFields.length > 0 && (
            <p class="muted">Missing: {missingFields.map((finding) => fieldLabel(pathOf(finding))).join(', ')}.</p>
          )}
          {shownErrors.length + warnings.length > 0 && (
            <ul class="problems">
              {[...shownErrors, ...warnings].map((finding) => (
                <Problem key={`${pathOf(finding)} ${finding.code}`} finding={finding} />
              ))}
            </ul>
          )}
          {error && <Notice tone="warn">{error.message} The API checks the order again when you place it.</Notice>}
          {findings && !errors.length && <p class="muted">This order is ready to place.</p>}
          {children}
        </div>
      </Card>
    </div>
  )
}

const Problem = ({ finding }: { finding: Finding }) => (
  <li class={finding.severity === 'hard' ? '' : 'advisory'}>
    <button type="button" onClick={() => document.querySelector<HTMLElement>(`[data-path="${pathOf(finding)}"]`)?.focus()}>
      {humanize(fieldLabel(pathOf(finding))) || 'Order'}
    </button>
    <div>{describeFinding(finding)}</div>
    {addsRemedy(finding) && <div class="small muted">{finding.remedy}</div>}
  </li>
)

/** The API's message for a missing field describes a request, not a form. */
export const describeFinding = ({ code, message }: Finding) => (code === 'missing' ? 'Required.' : message)

const addsRemedy = ({ code, message, remedy }: Finding) => code !== 'missing' && Boolean(remedy) && !remedy?.startsWith(message)

const fieldLabels: Record<string, string> = {
  user_id: 'user',
  order_set: 'lab test',
  dob: 'date of birth',
  email: 'email',
  phone_number: 'phone',
  first_line: 'street',
  zip: 'ZIP code',
  npi: 'NPI',
}

function fieldLabel(path: string) {
  const last = path.split('.').at(-1) ?? ''
  return fieldLabels[last] ?? fieldLabels[path.split('.')[0] ?? ''] ?? humanize(last).toLowerCase()
}

const isRequiredField = (path: string) =>
  /^(patient_details|patient_address)\.|^(user_id|order_set|patient_details|patient_address|lab_test_id)$/.test(path)
