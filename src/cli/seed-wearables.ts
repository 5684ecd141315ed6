import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { Id } from '../contract/common.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { listAllTeams } from '../tenants/teams/actions.ts'
import type { FillOptions } from '../wearables/providers/demo/fill.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { progress } from './progress.ts'
import { fillShare } from './seed-share.ts'
import type { Work } from './seed-worker.ts'

const Count = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/, `Must be a whole number from 1 to ${most}.`)
    .transform(Number)
    .refine((count) => count <= most, `Must be a whole number from 1 to ${most}.`)

export const seedWearables = command({
  name: 'seed wearables',
  summary: 'Create sample users with past days of wearable data in the sandbox. You can run the command again: it skips users that exist.',
  options: {
    users: { value: 'N', what: 'Number of users.', shape: Count(1_000_000), fallback: '100' },
    days: { value: 'N', what: 'Days of data per user.', shape: Count(366), fallback: '30' },
    samples: { value: 'N', what: 'Samples per day.', shape: Count(2880), fallback: '300' },
    team: { value: 'ID', what: 'Team. Default: the first team.', shape: Id },
  },
  async run({ users, days, samples, team, json }) {
    const made = await withApp(async (app, { pool }) => {
      const team_id = await teamOf(app, team)
      const subject = () => `team_id:${team_id}`
      await recordOperator(app, 'seed wearables', async () => undefined, subject)
      return fill(app, pool.options.connectionString as string, { filling: { team_id, days, samples }, users })
    })
    print(json, made, [`created ${made.users} users with ${made.samples} samples; ${made.there} users existed`])
  },
})

type Plan = { filling: FillOptions; users: number }

/** Starting a thread takes about a second, which fewer users than this do not repay. */
const FEW = 25

/** Generating and compressing samples takes most of the time, so the work is split over the processors. */
async function fill(app: App, url: string, { filling, users }: Plan) {
  const made = { users: 0, samples: 0, there: 0 }
  const bar = progress('users', users)
  const done = (isMade: boolean) => {
    if (isMade) made.users++
    else made.there++
    bar.add()
  }
  const step = Math.min(availableParallelism(), Math.ceil(users / FEW))
  if (step < 2) await fillShare(app, { filling, users, first: 1, step: 1 }, done)
  else await Promise.all(Array.from({ length: step }, (_, i) => inThread({ url, filling, users, first: i + 1, step }, done)))
  bar.end()
  return { ...made, samples: made.users * filling.days * filling.samples }
}

const inThread = (work: Work, done: (isMade: boolean) => void) =>
  new Promise<void>((resolve, reject) => {
    const thread = new Worker(new URL('./seed-worker.ts', import.meta.url), { workerData: work })
    thread
      .on('message', done)
      .on('error', reject)
      .on('exit', () => resolve())
  })

async function teamOf(app: App, id: string | undefined) {
  if (app.config.ENVIRONMENT !== 'sandbox') throw setupProblem('Sample data can be created in a sandbox only')
  const teams = await listAllTeams(app)
  const [team] = id ? teams.filter((team) => team.id === id) : teams
  if (!team) throw setupProblem('No such team; list the teams with: assay team')
  return team.id
}
