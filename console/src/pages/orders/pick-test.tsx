import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Picker } from '../../ui/picker.tsx'
import { methodWords, money, plural } from '../../words.ts'
import type { LabTest } from './draft.ts'

type PickTestProps = { test: LabTest | null; wrong?: string; onPick: (test: LabTest | null) => void }

const SHOWN = 40

export function PickTest({ test, wrong, onPick }: PickTestProps) {
  const [text, setText] = useState('')
  const tests = useQuery('lab-tests for orders', () => api.listLabTests({ query: { status: 'active', lab_test_limit: 500 } }))
  if (test)
    return (
      <div class="field">
        <span class="label">Lab test</span>
        <div class="picked">
          <div>
            <strong>{test.name}</strong>
            <div class="small muted">{aboutTest(test)}</div>
          </div>
          <Button small onClick={() => onPick(null)}>
            Change test
          </Button>
        </div>
        {wrong && <div class="wrong">{wrong}</div>}
      </div>
    )
  const wanted = text.trim().toLowerCase()
  const isWanted = ({ name, lab, method }: LabTest) => `${name} ${lab?.name} ${methodWords[method]}`.toLowerCase().includes(wanted)
  return (
    <Picker
      label="Lab test"
      placeholder="Name, lab or collection"
      list="Lab tests"
      path="order_set"
      wrong={wrong}
      text={text}
      onText={setText}
      of={{ ...tests, data: tests.data?.data.filter(isWanted).slice(0, SHOWN) }}
      keyOf={({ id }) => id}
      onPick={onPick}
    >
      {(one) => (
        <>
          <span>
            {one.name} <span class="small muted">{aboutTest(one)}</span>
          </span>
          <span>{money(one.price)}</span>
        </>
      )}
    </Picker>
  )
}

const aboutTest = ({ lab, method, markers, fasting }: LabTest) =>
  [lab?.name, methodWords[method], plural(markers?.length ?? 0, 'marker'), fasting && 'fasting'].filter(Boolean).join(' · ')
