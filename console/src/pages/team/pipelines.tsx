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
      Create pipeline
    </Button>
  )
  return (
    <>
      <PageHeader title="Pipelines">Publish this team's events to RabbitMQ or Google Cloud Pub/Sub, in order and at least once.</PageHeader>
      <QueryView
        query={pipelines}
        isEmpty={({ pipelines }) => !pipelines.length}
        empty={
          <Card bare label="Pipelines">
            <EmptyState title="No pipelines yet" actions={createButton}>
              Publish every event to a RabbitMQ exchange, a Google Cloud Pub/Sub topic, or both. Start with new events or with the oldest
              stored one.
            </EmptyState>
          </Card>
        }
      >
        {({ pipelines }) =>
          pipelines.map((pipeline) => <PipelineView key={pipeline.team_id} pipeline={pipeline} onChange={() => setEditing(pipeline)} />)
        }
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
            ['Started from', pipeline.push_historical_data ? 'The oldest stored event' : 'New events only'],
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
        Edit
      </Button>
      <Button small kind="danger" onClick={() => setIsDeleting(true)}>
        Delete
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
    showToast('Pipeline deleted.')
  }
  return (
    <FormDialog title="Delete this pipeline?" submit="Delete pipeline" danger onClose={onClose} onSubmit={remove}>
      <p>Publishing stops and the pipeline's position is lost. The events stay in the log.</p>
    </FormDialog>
  )
}
