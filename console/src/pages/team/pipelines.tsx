import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, teamPath } from '../../session.ts'
import { Button, Card, Doing, Empty, Facts, Notice, Status, Time, type Tone } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { Progress } from '../../ui/progress.tsx'
import { Loaded } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { count, plural } from '../../words.ts'
import { PipelineForm } from './pipeline-form.tsx'

export type Pipeline = Awaited<ReturnType<typeof api.listPipelines>>['pipelines'][number]

const EVERY = 3_000
/** The service counts no further. */
const LAG_COUNTED = 10_000

export function Pipelines() {
  const [editing, setEditing] = useState<Pipeline | 'new'>()
  const { team_id } = teamPath()
  const load = () => api.listPipelines({ params: deploymentPath(), query: { team_id } })
  const found = useQuery(`pipelines:${team_id}`, load, { every: EVERY })
  const add = may('team.manage') && (
    <Button kind="primary" onClick={() => setEditing('new')}>
      Create a pipeline
    </Button>
  )
  return (
    <>
      <Head title="Pipelines">
        The event log of this team to a message broker of yours, in order, each event until the broker confirms it.
      </Head>
      <Loaded
        of={found}
        isEmpty={({ pipelines }) => !pipelines.length}
        empty={
          <Card bare label="Pipelines">
            <Empty title="No pipeline yet" actions={add}>
              Name a RabbitMQ broker and an exchange. Every event goes there beside your webhooks, from now on or from the oldest that is
              kept.
            </Empty>
          </Card>
        }
      >
        {({ pipelines }) => pipelines.map((one) => <Found key={one.team_id} pipeline={one} onChange={() => setEditing(one)} />)}
      </Loaded>
      {editing && <PipelineForm kept={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
    </>
  )
}

const isPaused = ({ preferences }: Pipeline) => !preferences.enabled.length

function stateOf(pipeline: Pipeline): [Tone, string] {
  if (isPaused(pipeline)) return ['idle', 'Paused']
  if (pipeline.last_error) return ['bad', 'Failing']
  return pipeline.lag ? ['info', 'Catching up'] : ['good', 'Up to date']
}

function Found({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const { rabbitmq, delivered, lag, last_error, failing_since, failures, next_try_at, event_type_prefixes } = pipeline
  const [tone, state] = stateOf(pipeline)
  const all = delivered + lag
  const waiting = lag >= LAG_COUNTED ? `${count(lag)} or more` : count(lag)
  return (
    <div class="stack">
      {last_error && (
        <Notice tone="bad">
          <strong>{last_error.message}</strong> Last tried <Time at={last_error.at} real />; {plural(failures, 'failure')} in a row
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
      )}
      <Card title="RabbitMQ" actions={may('team.manage') && <Actions pipeline={pipeline} onChange={onChange} />}>
        <div class="stack">
          <Facts
            of={[
              ['State', <Status tone={tone}>{state}</Status>],
              ['Broker', <code>{rabbitmq?.uri}</code>],
              ['Exchange', <code>{rabbitmq?.exchange}</code>],
              ['Event types', event_type_prefixes?.map((prefix) => `${prefix}*`).join(', ') ?? 'All'],
              ['Began with', pipeline.push_historical_data ? 'The oldest event that was kept' : 'What happened from then on'],
              ['Waiting', waiting],
              ['Last delivered', pipeline.last_delivered_at ? <Time at={pipeline.last_delivered_at} real /> : 'Nothing yet'],
              ['Created', <Time at={pipeline.created_at} real />],
            ]}
          />
          {all > 0 && <Progress done={delivered} total={all} share={delivered / all} />}
        </div>
      </Card>
    </div>
  )
}

function Actions({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const [ending, setEnding] = useState(false)
  const paused = isPaused(pipeline)
  const turn = async () => {
    await api.upsertPipelines({
      params: deploymentPath(),
      body: { team_ids: [pipeline.team_id], preferences: { preferred: 'rabbitmq', enabled: paused ? ['rabbitmq'] : [] } },
    })
    refresh('pipelines:')
    say(paused ? 'It goes on where it stopped.' : 'Paused; what happens waits in the log.')
  }
  return (
    <span class="row wrap">
      <Doing small act={turn}>
        {paused ? 'Resume' : 'Pause'}
      </Doing>
      <Button small onClick={onChange}>
        Change…
      </Button>
      <Button small kind="danger" onClick={() => setEnding(true)}>
        Delete…
      </Button>
      {ending && <Delete team_id={pipeline.team_id} onClose={() => setEnding(false)} />}
    </span>
  )
}

function Delete({ team_id, onClose }: { team_id: string; onClose: () => void }) {
  const end = async () => {
    await api.deletePipelines({ params: deploymentPath(), query: { team_id: [team_id] } })
    refresh('pipelines:')
    onClose()
    say('The pipeline is deleted.')
  }
  return (
    <FormDialog title="Delete the pipeline?" submit="Delete" danger onClose={onClose} onSubmit={end}>
      <p>Nothing more goes to the broker, and its place in the log is forgotten. The events stay in the log.</p>
    </FormDialog>
  )
}
