import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api, type Failure } from '../../api.ts'
import { Card, Notice, Status } from '../../ui/basics.tsx'
import { plural, words } from '../../words.ts'
import type { NewOrder } from './draft.ts'

export type Finding = Awaited<ReturnType<typeof api.validateOrder>>['problems'][number]

const PAUSE = 300

/** Asks the service what is wrong with the order, whenever the typing pauses. */
export function usePreflight(order: NewOrder) {
  const [findings, setFindings] = useState<Finding[]>()
  const [checking, setChecking] = useState(true)
  const [failure, setFailure] = useState<Failure>()
  const text = JSON.stringify(order)
  useEffect(() => {
    let current = true
    setChecking(true)
    const timer = setTimeout(async () => {
      const told = await api.validateOrder({ body: JSON.parse(text) }).then(
        ({ problems }) => ({ problems, failure: undefined }),
        (failure: Failure) => ({ problems: undefined, failure }),
      )
      if (!current) return
      setChecking(false)
      setFindings(told.problems)
      setFailure(told.failure)
    }, PAUSE)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [text])
  return { findings, checking, failure }
}

export const pathOf = ({ path }: Finding) => path.slice(1).join('.')

export const findingsBy = (findings: Finding[] | undefined, path: string) =>
  (findings ?? []).filter((one) => pathOf(one) === path || pathOf(one).startsWith(`${path}.`))

type PreflightProps = {
  findings: Finding[] | undefined
  checking: boolean
  failure: Failure | undefined
  shown: (path: string) => boolean
  children: ComponentChildren
}

/** What stands in the way, what is doubtful, and the way on. */
export function Preflight({ findings, checking, failure, shown, children }: PreflightProps) {
  const hard = (findings ?? []).filter(({ severity }) => severity === 'hard')
  const told = hard.filter((one) => shown(pathOf(one)) || !isField(pathOf(one)))
  const quiet = hard.filter((one) => !told.includes(one))
  const soft = (findings ?? []).filter(({ severity }) => severity !== 'hard')
  return (
    <div class="stack stays">
      <Card
        title="Preflight"
        actions={
          <span aria-live="polite">
            {checking ? (
              <Status tone="idle">Checking</Status>
            ) : failure ? (
              <Status tone="warn">Not checked</Status>
            ) : hard.length ? (
              <Status tone={told.length ? 'bad' : 'idle'}>
                {told.length ? plural(told.length, 'problem') : `${hard.length} to fill in`}
              </Status>
            ) : (
              <Status tone="good">Ready</Status>
            )}
          </span>
        }
      >
        <div class="stack">
          {quiet.length > 0 && <p class="muted">Still to fill in: {quiet.map((one) => nameOf(pathOf(one))).join(', ')}.</p>}
          {told.length + soft.length > 0 && (
            <ul class="problems">
              {[...told, ...soft].map((one) => (
                <Problem key={`${pathOf(one)} ${one.code}`} of={one} />
              ))}
            </ul>
          )}
          {failure && <Notice tone="warn">{failure.message} The order is checked again when it is placed.</Notice>}
          {findings && !hard.length && <p class="muted">Nothing stands in the way of this order.</p>}
          {children}
        </div>
      </Card>
    </div>
  )
}

const Problem = ({ of: one }: { of: Finding }) => (
  <li class={one.severity === 'hard' ? '' : 'advisory'}>
    <button type="button" onClick={() => document.querySelector<HTMLElement>(`[data-path="${pathOf(one)}"]`)?.focus()}>
      {nameOf(pathOf(one)) || 'Order'}
    </button>
    <div>{one.message}</div>
    {one.remedy && one.remedy !== one.message && <div class="small muted">{one.remedy}</div>}
  </li>
)

const names: Record<string, string> = {
  user_id: 'user',
  order_set: 'lab test',
  dob: 'date of birth',
  email: 'e-mail',
  phone_number: 'phone',
  first_line: 'street',
  zip: 'ZIP',
  npi: 'NPI',
}

function nameOf(path: string) {
  const last = path.split('.').at(-1) ?? ''
  return names[last] ?? names[path.split('.')[0] ?? ''] ?? words(last).toLowerCase()
}

const isField = (path: string) =>
  /^(patient_details|patient_address)\.|^(user_id|order_set|patient_details|patient_address|lab_test_id)$/.test(path)
