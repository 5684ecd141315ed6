import type { ComponentChildren } from 'preact'
import type { Destination, OutletName } from '../../../../src/contract/delivery/pipelines.ts'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentPath, may } from '../../session.ts'
import { Card, Doing, Facts, Notice, Status, Time, type Tone } from '../../ui/basics.tsx'
import { Progress } from '../../ui/progress.tsx'
import { say } from '../../ui/toasts.tsx'
import { count, plural } from '../../words.ts'
import { names } from './pipeline-form.tsx'
import type { Pipeline } from './pipelines.tsx'

/** The service counts no further. */
const LAG_COUNTED = 10_000

type State = Pipeline['destinations'][number]
type Props = { pipeline: Pipeline; state: State }

/** How one destination is doing. */
export function DestinationCard({ pipeline, state }: Props) {
  const { delivered, lag, last_error, last_delivered_at, created_at } = state
  const name = state.destination as OutletName
  const [tone, word] = wordOf(state, isPaused(pipeline, name))
  const all = delivered + lag
  return (
    <Card title={names[name] ?? name} actions={may('team.manage') && <Turn pipeline={pipeline} name={name} />}>
      <div class="stack">
        {last_error && <Failing state={state} />}
        <Facts
          of={[
            ['State', <Status tone={tone}>{word}</Status>],
            ...factsOf(pipeline, name),
            ['Waiting', lag >= LAG_COUNTED ? `${count(lag)} or more` : count(lag)],
            ['Last delivered', last_delivered_at ? <Time at={last_delivered_at} real /> : 'Nothing yet'],
            ['Added', <Time at={created_at} real />],
          ]}
        />
        {all > 0 && <Progress done={delivered} total={all} share={delivered / all} />}
      </div>
    </Card>
  )
}

const isPaused = ({ preferences }: Pipeline, name: OutletName) => !preferences.enabled.includes(name)

function wordOf({ last_error, lag }: State, paused: boolean): [Tone, string] {
  if (paused) return ['idle', 'Paused']
  if (last_error) return ['bad', 'Failing']
  return lag ? ['info', 'Catching up'] : ['good', 'Up to date']
}

function factsOf({ rabbitmq, cloud_pubsub }: Pipeline, name: OutletName): [string, ComponentChildren][] {
  if (name === 'rabbitmq')
    return [
      ['Broker', <code>{rabbitmq?.uri}</code>],
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
    <strong>{last_error?.message}</strong> Last tried <Time at={last_error?.at ?? ''} real />; {plural(failures, 'failure')} in a row
    {failing_since && (
      <>
        , the first <Time at={failing_since} real />
      </>
    )}
    .{' '}
    {next_try_at && (
      <>
        Tried again <Time at={next_try_at} real />.
      </>
    )}
  </Notice>
)

function Turn({ pipeline, name }: { pipeline: Pipeline; name: OutletName }) {
  const { preferred, enabled } = pipeline.preferences
  const paused = isPaused(pipeline, name)
  const turn = async () => {
    const left = enabled.filter((one) => one !== name)
    // Answers may have names that are newer than this page; they are sent back as they came.
    const preferences = { preferred: preferred as Destination, enabled: (paused ? [...left, name] : left) as Destination[] }
    await api.upsertPipelines({ params: deploymentPath(), body: { team_ids: [pipeline.team_id], preferences } })
    refresh('pipelines:')
    say(paused ? 'It goes on where it stopped.' : 'Paused; what happens waits in the log.')
  }
  return (
    <Doing small act={turn}>
      {paused ? 'Resume' : 'Pause'}
    </Doing>
  )
}
