import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { Id } from '../contract/common.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { listAllTeams } from '../tenants/teams/actions.ts'
import type { DemoSeedOptions } from '../wearables/demo/seed.ts'
import { command, print } from './command.ts'
import { progress } from './progress.ts'
import { recordOperator } from './record-operator.ts'
import { seedShare } from './seed-share.ts'
import type { Work } from './seed-worker.ts'
import { withApp } from './with-app.ts'

const CountUpTo = (max: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/, `Must be a whole number from 1 to ${max}.`)
    .transform(Number)
    .refine((count) => count <= max, `Must be a whole number from 1 to ${max}.`)

export const seedWearables = command({
  name: 'seed wearables',
  summary: 'Create sample users with past days of wearable data in the sandbox. You can run the command again: it skips users that exist.',
  options: {
    users: { value: 'N', what: 'Number of users.', shape: CountUpTo(1_000_000), fallback: '100' },
    days: { value: 'N', what: 'Days of data per user.', shape: CountUpTo(366), fallback: '30' },
    samples: { value: 'N', what: 'Samples per day.', shape: CountUpTo(2880), fallback: '300' },
    team: { value: 'ID', what: 'Team. Default: the first team.', shape: Id },
  },
  async run({ users, days, samples, team, json }) {
    const created = await withApp(async (app, { database: { pool } }) => {
      const team_id = await requireTeam(app, team)
      const subject = () => `team_id:${team_id}`
      await recordOperator(app, 'seed wearables', async () => undefined, subject)
      return createUsers(app, pool.options.connectionString as string, { options: { team_id, days, samples }, users })
    })
    print(json, created, [`created ${created.users} users with ${created.samples} samples; ${created.there} users existed`])
  },
})

type SeedPlan = { options: DemoSeedOptions; users: number }

/** Starting a thread takes about a second, so a thread is worth it only for this many users. */
const USERS_PER_THREAD = 25

/** Generating and compressing samples takes most of the time, so the work is split over the processors. */
async function createUsers(app: App, url: string, { options, users }: SeedPlan) {
  const created = { users: 0, samples: 0, there: 0 }
  const bar = progress('users', users)
  const onUser = (isCreated: boolean) => {
    if (isCreated) created.users++
    else created.there++
    bar.add()
  }
  const step = Math.min(availableParallelism(), Math.ceil(users / USERS_PER_THREAD))
  if (step < 2) await seedShare(app, { options, users, first: 1, step: 1 }, onUser)
  else await Promise.all(Array.from({ length: step }, (_, i) => runThread({ url, options, users, first: i + 1, step }, onUser)))
  bar.end()
  return { ...created, samples: created.users * options.days * options.samples }
}

const runThread = (work: Work, onUser: (isCreated: boolean) => void) =>
  new Promise<void>((resolve, reject) => {
    const thread = new Worker(new URL('./seed-worker.ts', import.meta.url), { workerData: work })
    thread
      .on('message', onUser)
      .on('error', reject)
      .on('exit', () => resolve())
  })

async function requireTeam(app: App, id: string | undefined) {
  if (app.config.ENVIRONMENT !== 'sandbox') throw setupProblem('Sample data can be created in a sandbox only')
  const teams = await listAllTeams(app)
  const [team] = id ? teams.filter((team) => team.id === id) : teams
  if (!team) throw setupProblem('No such team; list the teams with: assay team')
  return team.id
}
