import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { may, teamPath } from '../../session.ts'
import { Card, Doing, Empty, Status, Time, type Tone } from '../../ui/basics.tsx'
import { Progress } from '../../ui/progress.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { count, words } from '../../words.ts'
import type { Webhook } from './list.tsx'

type Job = Awaited<ReturnType<typeof api.getWebhookJob>>

const tones: Record<string, Tone> = { running: 'info', done: 'good', stopped: 'idle', failed: 'bad' }
const EVERY = 1_500

/** Jobs go on without the page; whoever comes back finds them here. */
export function Jobs({ webhook: { id } }: { webhook: Webhook }) {
  const jobs = useQuery(`jobs:${id}`, () => api.listWebhookJobs({ params: { ...teamPath(), webhook_id: id } }), { every: EVERY })
  const stop = async (job_id: string) => {
    await api.stopWebhookJob({ params: { ...teamPath(), webhook_id: id, job_id } })
    refresh('jobs:')
  }
  return (
    <Card bare title="Replays">
      <Loaded
        of={jobs}
        isEmpty={({ data }) => !data.length}
        empty={
          <Empty title="Nothing was sent again">
            A replay sends a window of the event log; a recovery sends what failed for the last time.
          </Empty>
        }
      >
        {({ data }) => (
          <Table
            label="Replays, newest first"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { name: 'Kind', cell: ({ kind }) => words(kind) },
              { name: 'State', cell: ({ state }) => <Status tone={tones[state] ?? 'idle'}>{words(state)}</Status> },
              { name: 'Progress', cell: (job) => <Progress done={job.done} total={job.total} share={shareOf(job)} /> },
              { name: 'Sent', right: true, cell: ({ sent }) => count(sent) },
              { name: 'Started', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} real /> },
              {
                name: 'Stop',
                wide: true,
                right: true,
                cell: ({ id, state }) =>
                  state === 'running' && may('team.manage') ? (
                    <Doing small act={() => stop(id)}>
                      Stop
                    </Doing>
                  ) : null,
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

const shareOf = ({ done, total, state }: Job) => (total ? done / total : state === 'done' ? 1 : 0)
