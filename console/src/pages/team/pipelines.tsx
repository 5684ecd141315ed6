import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, teamPath } from '../../session.ts'
import { Button, Card, Empty, Facts, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { DestinationCard } from './pipeline-destination.tsx'
import { PipelineForm } from './pipeline-form.tsx'

export type Pipeline = Awaited<ReturnType<typeof api.listPipelines>>['pipelines'][number]

const EVERY = 3_000

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
        The event log of this team to RabbitMQ or Google Cloud Pub/Sub, in order, each event until it is confirmed.
      </Head>
      <Loaded
        of={found}
        isEmpty={({ pipelines }) => !pipelines.length}
        empty={
          <Card bare label="Pipelines">
            <Empty title="No pipeline yet" actions={add}>
              Name a RabbitMQ broker and an exchange, a topic of Google Cloud Pub/Sub, or both. Every event goes there beside your webhooks,
              from now on or from the oldest that is kept.
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

function Found({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const { event_type_prefixes, destinations, created_at } = pipeline
  return (
    <div class="stack">
      {destinations.map((state) => (
        <DestinationCard key={state.destination} pipeline={pipeline} state={state} />
      ))}
      <Card title="Settings" actions={may('team.manage') && <Actions pipeline={pipeline} onChange={onChange} />}>
        <Facts
          of={[
            ['Event types', event_type_prefixes?.map((prefix) => `${prefix}*`).join(', ') ?? 'All'],
            ['Began with', pipeline.push_historical_data ? 'The oldest event that was kept' : 'What happened from then on'],
            ['Created', <Time at={created_at} real />],
          ]}
        />
      </Card>
    </div>
  )
}

function Actions({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const [ending, setEnding] = useState(false)
  return (
    <span class="row wrap">
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
      <p>Nothing more is published, and its place in the log is forgotten. The events stay in the log.</p>
    </FormDialog>
  )
}
