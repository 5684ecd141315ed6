import { Card } from '../../ui/basics.tsx'
import { Check, SelectField, TextField } from '../../ui/forms.tsx'
import { type Draft, questionsOf } from './draft.ts'
import { type Finding, pathOf } from './preflight.tsx'

type QuestionsProps = { draft: Draft; findings: Finding[] | undefined; onAnswer: (answers: Record<string, string>) => void }

/** What the lab asks at order entry, by marker. */
export function Questions({ draft, findings, onAnswer }: QuestionsProps) {
  const asked = questionsOf(draft.lab_test)
  if (!asked.length) return null
  const wrong = findings?.find((one) => pathOf(one).startsWith('aoe_answers'))?.message
  return (
    <Card title="Questions of the lab">
      <div class="form-grid">
        {asked.map(({ question, marker, key }) => {
          const value = draft.answers[key] ?? ''
          const answer = (text: string) => onAnswer({ ...draft.answers, [key]: text })
          const label = `${question.value}${question.required ? '' : ' (optional)'}`
          const missing = question.required && !value && wrong ? { wrong } : {}
          if (question.type === 'choice')
            return (
              <SelectField
                key={key}
                label={label}
                hint={marker.name}
                none="Choose"
                value={value}
                options={question.answers.map(({ code, value }) => [code, value])}
                onChoose={answer}
                {...missing}
              />
            )
          if (question.type === 'multi_choice')
            return <Several key={key} label={label} answers={question.answers} value={value} onAnswer={answer} />
          return (
            <TextField
              key={key}
              label={label}
              hint={question.constraint ?? marker.name}
              value={value}
              onText={answer}
              data-path={`aoe_answers.${key}`}
              {...missing}
            />
          )
        })}
      </div>
    </Card>
  )
}

type SeveralProps = { label: string; answers: { code: string; value: string }[]; value: string; onAnswer: (text: string) => void }

function Several({ label, answers, value, onAnswer }: SeveralProps) {
  const chosen = value ? value.split(',') : []
  const turn = (code: string) => (on: boolean) => onAnswer((on ? [...chosen, code] : chosen.filter((one) => one !== code)).join(','))
  return (
    <fieldset class="stack tight">
      <legend>{label}</legend>
      {answers.map(({ code, value }) => (
        <Check key={code} label={value} value={chosen.includes(code)} onCheck={turn(code)} />
      ))}
    </fieldset>
  )
}
