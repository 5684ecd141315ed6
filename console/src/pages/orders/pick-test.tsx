import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { TextField } from '../../ui/forms.tsx'
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
  const found = (tests.data?.data ?? []).filter(({ name, lab, method }) =>
    `${name} ${lab?.name} ${methodWords[method]}`.toLowerCase().includes(wanted),
  )
  return (
    <div class="stack tight">
      <TextField
        label="Lab test"
        placeholder="Name, lab or collection"
        data-path="order_set"
        value={text}
        onText={setText}
        wrong={wrong}
        autocomplete="off"
      />
      <ul class="results-list" aria-label="Lab tests">
        {found.slice(0, SHOWN).map((one) => (
          <li key={one.id}>
            <button type="button" onClick={() => onPick(one)}>
              <span>
                {one.name} <span class="small muted">{aboutTest(one)}</span>
              </span>
              <span>{money(one.price)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

const aboutTest = ({ lab, method, markers, fasting }: LabTest) =>
  [lab?.name, methodWords[method], plural(markers?.length ?? 0, 'marker'), fasting && 'fasting'].filter(Boolean).join(' · ')
