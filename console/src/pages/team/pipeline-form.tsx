import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentPath, teamPath } from '../../session.ts'
import { Notice } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, Check, SelectField, TextField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import type { Pipeline } from './pipelines.tsx'

const kinds: [kind: string, name: string][] = [
  ['rabbitmq', 'RabbitMQ'],
  ['cloud_pubsub', 'Google Cloud Pub/Sub'],
  ['azure_amqp', 'Azure Event Hubs'],
  ['svix', 'Svix'],
]

/** Why a destination of the public interface is not served, and what to do instead. */
const refused: Record<string, string> = {
  cloud_pubsub: 'Google Cloud Pub/Sub is not supported yet. Use RabbitMQ, or a webhook in front of a function that publishes.',
  azure_amqp: 'Azure Event Hubs is not supported yet: it speaks AMQP 1.0, not 0-9-1. Use RabbitMQ, or a webhook.',
  svix: 'Webhooks deliver beside pipelines already: create one on the page Webhooks.',
}

const prefixesOf = (text: string) => text.split(/[\s,]+/).flatMap((prefix) => prefix.replace(/\*$/, '') || [])

type FormProps = { kept: Pipeline | undefined; onClose: () => void }

export function PipelineForm({ kept, onClose }: FormProps) {
  const [kind, setKind] = useState('rabbitmq')
  const [uri, setUri] = useState(kept?.rabbitmq?.uri ?? '')
  const [exchange, setExchange] = useState(kept?.rabbitmq?.exchange ?? '')
  const [types, setTypes] = useState(kept?.event_type_prefixes?.join('\n') ?? '')
  const [history, setHistory] = useState(false)
  const save = async () => {
    const settings = { rabbitmq: { uri: uri.trim(), exchange: exchange.trim() }, event_type_prefixes: prefixesOf(types) }
    const body = { team_ids: [teamPath().team_id], ...settings, ...(kept ? {} : { push_historical_data: history }) }
    await api.upsertPipelines({ params: deploymentPath(), body })
    refresh('pipelines:')
    onClose()
    say(kept ? 'Saved; it is tried at once.' : 'The pipeline begins.')
  }
  const title = kept ? 'Change the pipeline' : 'Create a pipeline'
  return (
    <FormDialog title={title} submit={kept ? 'Save' : 'Create'} large disabled={kind in refused} onClose={onClose} onSubmit={save}>
      {(error) => (
        <>
          {!kept && <SelectField label="Destination" value={kind} options={kinds} onChoose={setKind} />}
          {refused[kind] ? (
            <Notice tone="warn">{refused[kind]}</Notice>
          ) : (
            <div class="form-grid">
              <TextField
                full
                label="Broker"
                required
                spellcheck={false}
                autocomplete="off"
                placeholder="amqps://user:password@broker.example.com/vhost"
                hint={
                  kept
                    ? 'User and password are hidden; left like this, they stay as they are.'
                    : 'With user and password, which are sealed and never shown again.'
                }
                value={uri}
                onText={setUri}
                wrong={fieldProblems(error)['rabbitmq.uri']}
              />
              <TextField
                label="Exchange"
                required
                hint="It must exist; the event type is the routing key."
                value={exchange}
                onText={setExchange}
                wrong={fieldProblems(error)['rabbitmq.exchange']}
              />
              <AreaField
                full
                label="Event types"
                hint="Empty takes all. One beginning on each line, as in labtest.order."
                value={types}
                onText={setTypes}
                wrong={Object.entries(fieldProblems(error)).find(([path]) => path.startsWith('event_type_prefixes'))?.[1]}
              />
              {!kept && <Check label="Begin with the oldest event that is kept" value={history} onCheck={setHistory} />}
            </div>
          )}
        </>
      )}
    </FormDialog>
  )
}
