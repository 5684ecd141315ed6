import { setTimeout as pause } from 'node:timers/promises'
import { environments, Id, InstantIn } from '../contract/common.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print, usage } from './command.ts'
import { listing } from './listing.ts'
import { progress } from './progress.ts'
import { asManager, reach, type Service } from './service.ts'

const place = {
  ...reach,
  org: { value: 'ID', what: 'Organization. Default: the one in credentials.json.', shape: Id },
  team: { value: 'ID', what: 'Team. Default: the one in credentials.json.', shape: Id },
  environment: { value: environments.join('|'), what: 'Environment of the service.', oneOf: environments, fallback: 'sandbox' },
} as const

type Place = { org: string | undefined; team: string | undefined; environment: (typeof environments)[number] }

function pathOf({ kept }: Service, { org, team, environment }: Place) {
  const org_id = org ?? kept.org_id
  const team_id = team ?? kept.team_id
  if (!org_id || !team_id) throw usage('Pass --org and --team: credentials.json does not have them.')
  return { org_id, team_id, env: environment }
}

export const listWebhooks = command({
  name: 'webhooks list',
  summary: 'List the webhooks of a team with their pending messages and failures.',
  options: place,
  async run({ json, ...given }) {
    const service = asManager(given)
    const { data } = await service.api.listWebhooks({ params: pathOf(service, given), query: { limit: 100 } })
    print(
      json,
      data,
      listing(
        ['WEBHOOK ID', 'STATE', 'PENDING', 'FAILING SINCE', 'URL'],
        data.map(({ id, url, disabled, waiting, failing_since }) => [id, disabled ? 'disabled' : 'enabled', waiting, failing_since, url]),
      ),
    )
  },
})

export const replayCommand = command({
  name: 'replay',
  summary: 'Replay a time window of events to a webhook, in order, and show the progress.',
  options: {
    ...place,
    webhook: { value: 'ID', what: 'Webhook id from assay webhooks list.', shape: Id, required: true },
    from: { value: 'TIME', what: 'Start of the window.', shape: InstantIn, required: true },
    to: { value: 'TIME', what: 'End of the window. Default: now.', shape: InstantIn },
    types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
    'no-wait': { what: 'Start the replay and exit. The job continues in the background.' },
  },
  examples: ['assay replay --webhook ID --from 2026-11-01T00:00:00Z'],
  async run({ webhook, from, to, types, 'no-wait': leave, json, ...given }) {
    const service = asManager(given)
    const params = { ...pathOf(service, given), webhook_id: webhook }
    const job = await service.api.replayWebhook({ params, body: { from, to, event_types: types?.split(',') } })
    const ended = leave ? job : await followed(service, { ...params, job_id: job.id })
    print(json, ended, [`${ended.state}: ${ended.sent} of ${ended.done} events queued again (job ${ended.id})`])
    if (ended.state === 'failed') throw setupProblem('The replay failed; see the log of the service')
  },
})

type JobPath = ReturnType<typeof pathOf> & { webhook_id: string; job_id: string }

async function followed({ api }: Service, params: JobPath) {
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
