import { useState } from 'preact/hooks'
import type { OutletName } from '../../../../src/contract/delivery/pipelines.ts'
import { api, type Failure, fieldProblems } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentPath, teamPath } from '../../session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, Check, TextField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import type { Pipeline } from './pipelines.tsx'

export const names: Record<OutletName, string> = { rabbitmq: 'RabbitMQ', cloud_pubsub: 'Google Cloud Pub/Sub' }
const kinds = Object.keys(names) as OutletName[]

const prefixesOf = (text: string) => text.split(/[\s,]+/).flatMap((prefix) => prefix.replace(/\*$/, '') || [])

type FormProps = { kept: Pipeline | undefined; onClose: () => void }

export function PipelineForm({ kept, onClose }: FormProps) {
  const [chosen, setChosen] = useState<OutletName[]>(kept ? kinds.filter((kind) => kept[kind]) : ['rabbitmq'])
  const [rabbitmq, setRabbitMq] = useState(kept?.rabbitmq ?? { uri: '', exchange: '' })
  const [topic, setTopic] = useState(kept?.cloud_pubsub ?? { project: '', topic: '', message_ordering: true })
  const [types, setTypes] = useState(kept?.event_type_prefixes?.join('\n') ?? '')
  const [history, setHistory] = useState(false)
  const hasNew = chosen.some((kind) => !kept?.[kind])
  const save = async () => {
    const settings = { rabbitmq: trimmed(rabbitmq), cloud_pubsub: trimmed(topic) }
    // What nobody changed is not sent, so that nothing else about it is judged anew.
    const changed = chosen.filter((kind) => JSON.stringify(settings[kind]) !== JSON.stringify(kept?.[kind]))
    const body = {
      team_ids: [teamPath().team_id],
      ...Object.fromEntries(changed.map((kind) => [kind, settings[kind]])),
      event_type_prefixes: prefixesOf(types),
      ...(hasNew ? { push_historical_data: history } : {}),
    }
    await api.upsertPipelines({ params: deploymentPath(), body })
    refresh('pipelines:')
    onClose()
    say(kept ? 'Saved; it is tried at once.' : 'The pipeline begins.')
  }
  const choose = (kind: OutletName, on: boolean) => setChosen(kinds.filter((one) => (one === kind ? on : chosen.includes(one))))
  const title = kept ? 'Change the pipeline' : 'Create a pipeline'
  return (
    <FormDialog title={title} submit={kept ? 'Save' : 'Create'} large disabled={!chosen.length} onClose={onClose} onSubmit={save}>
      {(error) => (
        <>
          <fieldset class="stack tight">
            <legend>Destinations</legend>
            {kinds.map((kind) => (
              <Check
                key={kind}
                label={names[kind]}
                value={chosen.includes(kind)}
                disabled={Boolean(kept?.[kind])}
                onCheck={(on) => choose(kind, on)}
              />
            ))}
            <span class="small muted">Webhooks deliver beside pipelines already. Azure Event Hubs is not supported yet.</span>
          </fieldset>
          {chosen.includes('rabbitmq') && (
            <RabbitMqFields value={rabbitmq} isKept={Boolean(kept?.rabbitmq)} onChange={setRabbitMq} error={error} />
          )}
          {chosen.includes('cloud_pubsub') && <PubSubFields value={topic} onChange={setTopic} error={error} />}
          <AreaField
            full
            label="Event types"
            hint="Empty takes all. One beginning on each line, as in labtest.order."
            value={types}
            onText={setTypes}
            wrong={Object.entries(fieldProblems(error)).find(([path]) => path.startsWith('event_type_prefixes'))?.[1]}
          />
          {hasNew && (
            <Check
              label={`Begin ${kept ? 'the new destination ' : ''}with the oldest event that is kept`}
              value={history}
              onCheck={setHistory}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

const trimmed = <S extends object>(settings: S): S =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value])) as S

type Fields<S> = { value: S; onChange: (value: S) => void; error: Failure | undefined }
type RabbitMq = NonNullable<Pipeline['rabbitmq']>
type PubSub = NonNullable<Pipeline['cloud_pubsub']>

const RabbitMqFields = ({ value, isKept, onChange, error }: Fields<RabbitMq> & { isKept: boolean }) => (
  <div class="form-grid">
    <TextField
      full
      label="Broker"
      required
      spellcheck={false}
      autocomplete="off"
      placeholder="amqps://user:password@broker.example.com/vhost"
      hint={
        isKept
          ? 'User and password are hidden; left like this, they stay as they are.'
          : 'With user and password, which are sealed and never shown again.'
      }
      value={value.uri}
      onText={(uri) => onChange({ ...value, uri })}
      wrong={fieldProblems(error)['rabbitmq.uri']}
    />
    <TextField
      label="Exchange"
      required
      hint="It must exist; the event type is the routing key."
      value={value.exchange}
      onText={(exchange) => onChange({ ...value, exchange })}
      wrong={fieldProblems(error)['rabbitmq.exchange']}
    />
  </div>
)

const PubSubFields = ({ value, onChange, error }: Fields<PubSub>) => (
  <div class="form-grid">
    <TextField
      label="Project"
      required
      spellcheck={false}
      placeholder="harbour-events"
      hint="The id of a Google Cloud project that the operator of the service opened."
      value={value.project}
      onText={(project) => onChange({ ...value, project })}
      wrong={fieldProblems(error)['cloud_pubsub.project']}
    />
    <TextField
      label="Topic"
      required
      spellcheck={false}
      hint="It must exist, with its subscriptions; the event type is an attribute."
      value={value.topic}
      onText={(topic) => onChange({ ...value, topic })}
      wrong={fieldProblems(error)['cloud_pubsub.topic']}
    />
    <div class="full">
      <Check
        label="With ordering keys, so that subscriptions can keep the order of each order or resource"
        value={value.message_ordering}
        onCheck={(message_ordering) => onChange({ ...value, message_ordering })}
      />
    </div>
  </div>
)
