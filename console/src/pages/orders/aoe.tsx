import { Card } from '../../ui/basics.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/forms.tsx'
import { type OrderForm, questionsOf } from './order-form.ts'
import { type Finding, pathOf } from './preflight.tsx'

type QuestionsProps = { form: OrderForm; findings: Finding[] | undefined; onAnswer: (answers: Record<string, string>) => void }

export function Questions({ form, findings, onAnswer }: QuestionsProps) {
  const questions = questionsOf(form.lab_test)
  if (!questions.length) return null
  const error = findings?.find((finding) => pathOf(finding).startsWith('aoe_answers'))?.message
  return (
    <Card title="Ask at order entry (AoE) questions">
      <div class="form-grid">
        {questions.map(({ question, marker, key }) => {
          const value = form.answers[key] ?? ''
          const answer = (text: string) => onAnswer({ ...form.answers, [key]: text })
          const label = `${question.value}${question.required ? '' : ' (optional)'}`
          const missing = question.required && !value && error ? { error } : {}
          if (question.type === 'choice')
            return (
              <SelectField
                key={key}
                label={label}
                hint={marker.name}
                placeholder="Select"
                value={value}
                options={question.answers.map(({ code, value }) => [code, value])}
                onSelect={answer}
                {...missing}
              />
            )
          if (question.type === 'multi_choice')
            return <MultiChoice key={key} label={label} answers={question.answers} value={value} onAnswer={answer} />
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

type MultiChoiceProps = { label: string; answers: { code: string; value: string }[]; value: string; onAnswer: (text: string) => void }

function MultiChoice({ label, answers, value, onAnswer }: MultiChoiceProps) {
  const selected = value ? value.split(',') : []
  const toggle = (code: string) => (on: boolean) =>
    onAnswer((on ? [...selected, code] : selected.filter((selectedCode) => selectedCode !== code)).join(','))
  return (
    <fieldset class="stack tight">
      <legend>{label}</legend>
      {answers.map(({ code, value }) => (
        <Checkbox key={code} label={value} value={selected.includes(code)} onChange={toggle(code)} />
      ))}
    </fieldset>
  )
}
