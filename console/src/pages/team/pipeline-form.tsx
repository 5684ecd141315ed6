import { useState } from 'preact/hooks'
import type { SupportedDestination } from '../../../../src/contract/delivery/pipelines.ts'
import { type ApiError, api, fieldErrors } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentParams, teamParams } from '../../session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { FormatFields, fullFormat } from '../../ui/format-fields.tsx'
import { AreaField, Checkbox, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Pipeline } from './pipelines.tsx'

export const destinationNames: Record<SupportedDestination, string> = { rabbitmq: 'RabbitMQ', cloud_pubsub: 'Google Cloud Pub/Sub' }
const kinds = Object.keys(destinationNames) as SupportedDestination[]

const parsePrefixes = (text: string) => text.split(/[\s,]+/).flatMap((prefix) => prefix.replace(/\*$/, '') || [])

type FormProps = { existing: Pipeline | undefined; onClose: () => void }

export function PipelineForm({ existing, onClose }: FormProps) {
  const [selected, setSelected] = useState<SupportedDestination[]>(existing ? kinds.filter((kind) => existing[kind]) : ['rabbitmq'])
  const [rabbitmq, setRabbitMq] = useState(existing?.rabbitmq ?? { uri: '', exchange: '', ...fullFormat })
  const [topic, setTopic] = useState(existing?.cloud_pubsub ?? { project: '', topic: '', message_ordering: true, ...fullFormat })
  const [types, setTypes] = useState(existing?.event_type_prefixes?.join('\n') ?? '')
  const [includesHistory, setIncludesHistory] = useState(false)
  const hasNew = selected.some((kind) => !existing?.[kind])
  const save = async () => {
    const settings = { rabbitmq: trimSettings(rabbitmq), cloud_pubsub: trimSettings(topic) }
    // The body omits unchanged destinations, so the server does not validate them again.
    const changed = selected.filter((kind) => JSON.stringify(settings[kind]) !== JSON.stringify(existing?.[kind]))
    const body = {
      team_ids: [teamParams().team_id],
      ...Object.fromEntries(changed.map((kind) => [kind, settings[kind]])),
      event_type_prefixes: parsePrefixes(types),
      ...(hasNew ? { push_historical_data: includesHistory } : {}),
    }
    await api.upsertPipelines({ params: deploymentParams(), body })
    refresh('pipelines:')
    onClose()
    showToast(existing ? 'Pipeline saved. Delivery retries now.' : 'Pipeline created.')
  }
  const toggle = (changed: SupportedDestination, on: boolean) =>
    setSelected(kinds.filter((kind) => (kind === changed ? on : selected.includes(kind))))
  const title = existing ? 'Edit pipeline' : 'Create pipeline'
  return (
    <FormDialog
      title={title}
      submit={existing ? 'Save' : 'Create pipeline'}
      large
      disabled={!selected.length}
      onClose={onClose}
      onSubmit={save}
    >
      {(error) => (
        <>
          <fieldset class="stack tight">
            <legend>Destinations</legend>
            {kinds.map((kind) => (
              <Checkbox
                key={kind}
                label={destinationNames[kind]}
                value={selected.includes(kind)}
                disabled={Boolean(existing?.[kind])}
                onChange={(on) => toggle(kind, on)}
              />
            ))}
            <span class="small muted">Webhooks keep delivering alongside pipelines. Azure Event Hubs is not supported yet.</span>
          </fieldset>
          {selected.includes('rabbitmq') && (
            <RabbitMqFields value={rabbitmq} isExisting={Boolean(existing?.rabbitmq)} onChange={setRabbitMq} error={error} />
          )}
          {selected.includes('cloud_pubsub') && <PubSubFields value={topic} onChange={setTopic} error={error} />}
          <AreaField
            full
            label="Event types"
            hint="One prefix per line, such as labtest.order. Leave empty for all events."
            value={types}
            onText={setTypes}
            error={Object.entries(fieldErrors(error)).find(([path]) => path.startsWith('event_type_prefixes'))?.[1]}
          />
          {hasNew && (
            <Checkbox
              label={`Start ${existing ? 'the new destination ' : ''}from the oldest stored event`}
              value={includesHistory}
              onChange={setIncludesHistory}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

const trimSettings = <S extends object>(settings: S): S =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value])) as S

type Fields<S> = { value: S; onChange: (value: S) => void; error: ApiError | undefined }
type RabbitMq = NonNullable<Pipeline['rabbitmq']>
type PubSub = NonNullable<Pipeline['cloud_pubsub']>

const RabbitMqFields = ({ value, isExisting, onChange, error }: Fields<RabbitMq> & { isExisting: boolean }) => (
  <div class="form-grid">
    <TextField
      full
      label="Broker URI"
      required
      spellcheck={false}
      autocomplete="off"
      placeholder="amqps://user:password@broker.example.com/vhost"
      hint={
        isExisting
          ? 'The user and password are hidden. Leave them masked to keep them.'
          : 'Include the user and password. They are encrypted and not shown again.'
      }
      value={value.uri}
      onText={(uri) => onChange({ ...value, uri })}
      error={fieldErrors(error)['rabbitmq.uri']}
    />
    <TextField
      label="Exchange"
      required
      hint="The exchange must exist. The event type is the routing key."
      value={value.exchange}
      onText={(exchange) => onChange({ ...value, exchange })}
      error={fieldErrors(error)['rabbitmq.exchange']}
    />
    <FormatFields value={value} onChange={(change) => onChange({ ...value, ...change })} />
  </div>
)

const PubSubFields = ({ value, onChange, error }: Fields<PubSub>) => (
  <div class="form-grid">
    <TextField
      label="Project"
      required
      spellcheck={false}
      placeholder="harbor-events"
      hint="The ID of a Google Cloud project that your operator allows."
      value={value.project}
      onText={(project) => onChange({ ...value, project })}
      error={fieldErrors(error)['cloud_pubsub.project']}
    />
    <TextField
      label="Topic"
      required
      spellcheck={false}
      hint="The topic and its subscriptions must exist. The event type is an attribute."
      value={value.topic}
      onText={(topic) => onChange({ ...value, topic })}
      error={fieldErrors(error)['cloud_pubsub.topic']}
    />
    <div class="full">
      <Checkbox
        label="Send ordering keys, so subscriptions can preserve event order per lab order or resource"
        value={value.message_ordering}
        onChange={(message_ordering) => onChange({ ...value, message_ordering })}
      />
    </div>
    <FormatFields value={value} onChange={(change) => onChange({ ...value, ...change })} />
  </div>
)
