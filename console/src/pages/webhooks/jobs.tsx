import { api } from '../../api.ts'
import { formatCount, humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, teamParams } from '../../session.ts'
import { AsyncButton, Card, EmptyState, Status, Time, type Tone } from '../../ui/basics.tsx'
import { Progress } from '../../ui/progress.tsx'
import { QueryView, Table } from '../../ui/table.tsx'
import type { Webhook } from './list.tsx'

type Job = Awaited<ReturnType<typeof api.getWebhookJob>>

const kindLabels: Record<string, string> = { replay: 'Replay', recover: 'Recovery' }
const tones: Record<string, Tone> = { running: 'info', done: 'good', stopped: 'idle', failed: 'bad' }
const REFRESH_MS = 1_500

/** Jobs keep running when the page is closed. */
export function Jobs({ webhook: { id } }: { webhook: Webhook }) {
  const jobs = useQuery(`jobs:${id}`, () => api.listWebhookJobs({ params: { ...teamParams(), webhook_id: id } }), { refreshMs: REFRESH_MS })
  const stop = async (job_id: string) => {
    await api.stopWebhookJob({ params: { ...teamParams(), webhook_id: id, job_id } })
    refresh('jobs:')
  }
  return (
    <Card bare title="Replays">
      <QueryView
        query={jobs}
        isEmpty={({ data }) => !data.length}
        empty={
          <EmptyState title="No replays yet">
            A replay sends events from a time range again. A recovery sends only messages that exhausted their retries.
          </EmptyState>
        }
      >
        {({ data }) => (
          <Table
            label="Replays, newest first"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { name: 'Type', cell: ({ kind }) => kindLabels[kind] ?? humanize(kind) },
              { name: 'Status', cell: ({ state }) => <Status tone={tones[state] ?? 'idle'}>{humanize(state)}</Status> },
              { name: 'Progress', cell: (job) => <Progress done={job.done} total={job.total} share={progressOf(job)} /> },
              { name: 'Sent', wide: true, right: true, cell: ({ sent }) => formatCount(sent) },
              { name: 'Started', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} isRealTime /> },
              {
                name: 'Actions',
                right: true,
                cell: ({ id, state }) =>
                  state === 'running' && can('team.manage') ? (
                    <AsyncButton small action={() => stop(id)}>
                      Stop
                    </AsyncButton>
                  ) : null,
              },
            ]}
          />
        )}
      </QueryView>
    </Card>
  )
}

const progressOf = ({ done, total, state }: Job) => (total ? done / total : state === 'done' ? 1 : 0)
