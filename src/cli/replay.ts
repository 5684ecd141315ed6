import { setTimeout as pause } from 'node:timers/promises'
import { environments, Id, InstantIn } from '../contract/common.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { usageError } from './options.ts'
import { progress } from './progress.ts'
import { asManager, type Service, serviceOptions } from './service.ts'

export const targetOptions = {
  ...serviceOptions,
  org: { value: 'ID', what: 'Organization. Default: the one in credentials.json.', shape: Id },
  team: { value: 'ID', what: 'Team. Default: the one in credentials.json.', shape: Id },
  environment: { value: environments.join('|'), what: 'Environment of the service.', oneOf: environments, fallback: 'sandbox' },
} as const

type Target = { org: string | undefined; team: string | undefined; environment: (typeof environments)[number] }

export function pathOf({ stored }: Service, { org, team, environment }: Target) {
  const org_id = org ?? stored.org_id
  const team_id = team ?? stored.team_id
  if (!org_id || !team_id) throw usageError('Pass --org and --team: credentials.json does not have them.')
  return { org_id, team_id, env: environment }
}

export const listWebhooks = command({
  name: 'webhooks list',
  summary: 'List the webhooks of a team with their pending messages and failures.',
  options: targetOptions,
  async run({ json, ...target }) {
    const service = asManager(target)
    const { data } = await service.api.listWebhooks({ params: pathOf(service, target), query: { limit: 100 } })
    print(
      json,
      data,
      listing(
        ['WEBHOOK ID', 'STATE', 'PENDING', 'FAILING SINCE', 'URL'],
        data.map(({ id, url, disabled, waiting, waiting_at_least, failing_since }) => {
          const count = waiting_at_least ? `${waiting}+` : waiting
          return [id, disabled ? 'disabled' : 'enabled', count, failing_since, url]
        }),
      ),
    )
  },
})

export const replayCommand = command({
  name: 'replay',
  summary: 'Replay a time window of events to a webhook, in order, and show the progress.',
  options: {
    ...targetOptions,
    webhook: { value: 'ID', what: 'Webhook ID from assay webhooks list.', shape: Id, required: true },
    from: { value: 'TIME', what: 'Start of the window.', shape: InstantIn, required: true },
    to: { value: 'TIME', what: 'End of the window. Default: now.', shape: InstantIn },
    types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
    'no-wait': { what: 'Start the replay and exit. The job continues in the background.' },
  },
  examples: ['assay replay --webhook ID --from 2026-11-01T00:00:00Z'],
  async run({ webhook, from, to, types, 'no-wait': noWait, json, ...target }) {
    const service = asManager(target)
    const params = { ...pathOf(service, target), webhook_id: webhook }
    const job = await service.api.replayWebhook({ params, body: { from, to, event_types: types?.split(',') } })
    const finished = noWait ? job : await followJob(service, { ...params, job_id: job.id })
    print(json, finished, [`${finished.state}: ${finished.sent} of ${finished.done} events queued again (job ${finished.id})`])
    if (finished.state === 'failed') throw setupProblem('The replay failed; see the log of the service')
  },
})

type JobPath = ReturnType<typeof pathOf> & { webhook_id: string; job_id: string }

async function followJob({ api }: Service, params: JobPath) {
  let job = await api.getWebhookJob({ params })
  const bar = progress('replayed', job.total ?? undefined)
  for (let done = 0; ; await pause(500)) {
    bar.add(job.done - done)
    done = job.done
    if (job.state !== 'running') break
    job = await api.getWebhookJob({ params })
  }
  bar.end()
  return job
}
