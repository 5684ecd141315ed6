import type { ComponentChildren } from 'preact'
import type { Destination, SupportedDestination } from '../../../../src/contract/delivery/pipelines.ts'
import { api } from '../../api.ts'
import { formatCount, pluralize } from '../../format.ts'
import { refresh } from '../../query.ts'
import { can, deploymentParams } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, Notice, Status, Time, type Tone } from '../../ui/basics.tsx'
import { Progress } from '../../ui/progress.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { destinationNames } from './pipeline-form.tsx'
import type { Pipeline } from './pipelines.tsx'

/** The server stops counting here. */
const MAX_LAG_COUNT = 10_000

type State = Pipeline['destinations'][number]
type Props = { pipeline: Pipeline; state: State }

export function DestinationCard({ pipeline, state }: Props) {
  const { delivered, lag, last_error, last_delivered_at, created_at } = state
  const name = state.destination as SupportedDestination
  const [tone, label] = statusOf(state, isPaused(pipeline, name))
  const total = delivered + lag
  return (
    <Card title={destinationNames[name] ?? name} actions={can('team.manage') && <PauseButton pipeline={pipeline} name={name} />}>
      <div class="stack">
        {last_error && <Failing state={state} />}
        <DescriptionList
          items={[
            ['Status', <Status tone={tone}>{label}</Status>],
            ...factsOf(pipeline, name),
            ['Pending', lag >= MAX_LAG_COUNT ? `${formatCount(lag)}+` : formatCount(lag)],
            ['Last delivered', last_delivered_at ? <Time at={last_delivered_at} isRealTime /> : 'Never'],
            ['Added', <Time at={created_at} isRealTime />],
          ]}
        />
        {total > 0 && <Progress done={delivered} total={total} share={delivered / total} />}
      </div>
    </Card>
  )
}

const isPaused = ({ preferences }: Pipeline, name: SupportedDestination) => !preferences.enabled.includes(name)

function statusOf({ last_error, lag }: State, paused: boolean): [Tone, string] {
  if (paused) return ['idle', 'Paused']
  if (last_error) return ['bad', 'Failing']
  return lag ? ['info', 'Catching up'] : ['good', 'Up to date']
}

function factsOf({ rabbitmq, cloud_pubsub }: Pipeline, name: SupportedDestination): [string, ComponentChildren][] {
  if (name === 'rabbitmq')
    return [
      ['Broker URI', <code>{rabbitmq?.uri}</code>],
      ['Exchange', <code>{rabbitmq?.exchange}</code>],
    ]
  return [
    ['Project', <code>{cloud_pubsub?.project}</code>],
    ['Topic', <code>{cloud_pubsub?.topic}</code>],
    ['Ordering keys', cloud_pubsub?.message_ordering ? 'Yes' : 'No'],
  ]
}

const Failing = ({ state: { last_error, failures, failing_since, next_try_at } }: { state: State }) => (
  <Notice tone="bad">
    <strong>{last_error?.message}</strong> Last attempt <Time at={last_error?.at ?? ''} isRealTime />; {pluralize(failures, 'failure')} in a
    row
    {failing_since && (
      <>
        , the first <Time at={failing_since} isRealTime />
      </>
    )}
    .{' '}
    {next_try_at && (
      <>
        Next attempt <Time at={next_try_at} isRealTime />.
      </>
    )}
  </Notice>
)

function PauseButton({ pipeline, name }: { pipeline: Pipeline; name: SupportedDestination }) {
  const { preferred, enabled } = pipeline.preferences
  const paused = isPaused(pipeline, name)
  const toggle = async () => {
    const otherNames = enabled.filter((enabledName) => enabledName !== name)
    // A response may contain destinations that this page does not know; the body returns them unchanged.
    const preferences = { preferred: preferred as Destination, enabled: (paused ? [...otherNames, name] : otherNames) as Destination[] }
    await api.upsertPipelines({ params: deploymentParams(), body: { team_ids: [pipeline.team_id], preferences } })
    refresh('pipelines:')
    showToast(paused ? 'Destination resumed where it stopped.' : 'Destination paused. Events stay in the log.')
  }
  return (
    <AsyncButton small action={toggle}>
      {paused ? 'Resume' : 'Pause'}
    </AsyncButton>
  )
}
