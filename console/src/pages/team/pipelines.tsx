import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, teamParams } from '../../session.ts'
import { Button, Card, DescriptionList, EmptyState, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { DestinationCard } from './pipeline-destination.tsx'
import { PipelineForm } from './pipeline-form.tsx'

export type Pipeline = Awaited<ReturnType<typeof api.listPipelines>>['pipelines'][number]

const REFRESH_MS = 3_000

export function Pipelines() {
  const [editing, setEditing] = useState<Pipeline | 'new'>()
  const { team_id } = teamParams()
  const load = () => api.listPipelines({ params: deploymentParams(), query: { team_id } })
  const pipelines = useQuery(`pipelines:${team_id}`, load, { refreshMs: REFRESH_MS })
  const createButton = can('team.manage') && (
    <Button kind="primary" onClick={() => setEditing('new')}>
      Create a pipeline
    </Button>
  )
  return (
    <>
      <PageHeader title="Pipelines">
        The event log of this team to RabbitMQ or Google Cloud Pub/Sub, in order, each event until it is confirmed.
      </PageHeader>
      <QueryView
        query={pipelines}
        isEmpty={({ pipelines }) => !pipelines.length}
        empty={
          <Card bare label="Pipelines">
            <EmptyState title="No pipeline yet" actions={createButton}>
              Name a RabbitMQ broker and an exchange, a topic of Google Cloud Pub/Sub, or both. Every event goes there beside your webhooks,
              from now on or from the oldest that is kept.
            </EmptyState>
          </Card>
        }
      >
        {({ pipelines }) => pipelines.map((one) => <PipelineView key={one.team_id} pipeline={one} onChange={() => setEditing(one)} />)}
      </QueryView>
      {editing && <PipelineForm existing={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
    </>
  )
}

function PipelineView({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const { event_type_prefixes, destinations, created_at } = pipeline
  return (
    <div class="stack">
      {destinations.map((state) => (
        <DestinationCard key={state.destination} pipeline={pipeline} state={state} />
      ))}
      <Card title="Settings" actions={can('team.manage') && <Actions pipeline={pipeline} onChange={onChange} />}>
        <DescriptionList
          items={[
            ['Event types', event_type_prefixes?.map((prefix) => `${prefix}*`).join(', ') ?? 'All'],
            ['Began with', pipeline.push_historical_data ? 'The oldest event that was kept' : 'What happened from then on'],
            ['Created', <Time at={created_at} isRealTime />],
          ]}
        />
      </Card>
    </div>
  )
}

function Actions({ pipeline, onChange }: { pipeline: Pipeline; onChange: () => void }) {
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <span class="row wrap">
      <Button small onClick={onChange}>
        Change…
      </Button>
      <Button small kind="danger" onClick={() => setIsDeleting(true)}>
        Delete…
      </Button>
      {isDeleting && <DeleteDialog team_id={pipeline.team_id} onClose={() => setIsDeleting(false)} />}
    </span>
  )
}

function DeleteDialog({ team_id, onClose }: { team_id: string; onClose: () => void }) {
  const remove = async () => {
    await api.deletePipelines({ params: deploymentParams(), query: { team_id: [team_id] } })
    refresh('pipelines:')
    onClose()
    showToast('The pipeline is deleted.')
  }
  return (
    <FormDialog title="Delete the pipeline?" submit="Delete" danger onClose={onClose} onSubmit={remove}>
      <p>Nothing more is published, and its place in the log is forgotten. The events stay in the log.</p>
    </FormDialog>
  )
}
