import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatMoney, methodLabels, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Picker } from '../../ui/picker.tsx'
import type { LabTest } from './order-form.ts'

type PickTestProps = { test: LabTest | null; error?: string; onPick: (test: LabTest | null) => void }

const MAX_TESTS = 40

export function PickTest({ test, error, onPick }: PickTestProps) {
  const [text, setText] = useState('')
  const tests = useQuery('lab-tests for orders', () => api.listLabTests({ query: { status: 'active', lab_test_limit: 500 } }))
  if (test)
    return (
      <div class="field">
        <span class="label">Lab test</span>
        <div class="picked">
          <div>
            <strong>{test.name}</strong>
            <div class="small muted">{describeTest(test)}</div>
          </div>
          <Button small onClick={() => onPick(null)}>
            Change test
          </Button>
        </div>
        {error && <div class="field-error">{error}</div>}
      </div>
    )
  const query = text.trim().toLowerCase()
  const matches = ({ name, lab, method }: LabTest) => `${name} ${lab?.name} ${methodLabels[method]}`.toLowerCase().includes(query)
  return (
    <Picker
      label="Lab test"
      placeholder="Name, lab or collection method"
      listLabel="Lab tests"
      path="order_set"
      error={error}
      text={text}
      onText={setText}
      query={{ ...tests, data: tests.data?.data.filter(matches).slice(0, MAX_TESTS) }}
      keyOf={({ id }) => id}
      onPick={onPick}
    >
      {(test) => (
        <>
          <span>
            {test.name} <span class="small muted">{describeTest(test)}</span>
          </span>
          <span>{formatMoney(test.price)}</span>
        </>
      )}
    </Picker>
  )
}

const describeTest = ({ lab, method, markers, fasting }: LabTest) =>
  [lab?.name, methodLabels[method], pluralize(markers?.length ?? 0, 'marker'), fasting && 'fasting'].filter(Boolean).join(' · ')
