import { z } from 'zod'
import type { App } from '../app.ts'
import { Id } from '../contract/common.ts'
import { setupProblem } from '../problem.ts'
import { fillUser } from '../providers/demo/fill.ts'
import { listAllTeams } from '../teams/actions.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { progress } from './progress.ts'

const Count = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/, `Must be a whole number from 1 to ${most}.`)
    .transform(Number)
    .refine((count) => count <= most, `Must be a whole number from 1 to ${most}.`)

export const seedWearables = command({
  name: 'seed wearables',
  summary:
    'Fill a team of the sandbox with users and past days of wearable data, so many samples a day. What an earlier run made is left alone, so it can be run again.',
  options: {
    users: { value: 'N', what: 'How many users.', shape: Count(1_000_000), fallback: '100' },
    days: { value: 'N', what: 'How many days of each.', shape: Count(366), fallback: '30' },
    samples: { value: 'N', what: 'How many samples a day.', shape: Count(2880), fallback: '300' },
    team: { value: 'ID', what: 'Which team; the first where none is named.', shape: Id },
  },
  async run({ users, days, samples, team, json }) {
    const made = await withApp(async (app) => {
      const team_id = await teamOf(app, team)
      const subject = () => `team_id:${team_id}`
      await recordOperator(app, 'seed wearables', async () => undefined, subject)
      return fill(app, { team_id, users, days, samples })
    })
    print(json, made, [`made ${made.users} users with ${made.samples} samples; ${made.there} users were there`])
  },
})

type Fill = { team_id: string; users: number; days: number; samples: number }

const AT_ONCE = 4

async function fill(app: App, { users, ...filling }: Fill) {
  const made = { users: 0, samples: 0, there: 0 }
  const bar = progress('users', users)
  let next = 0
  const worker = async () => {
    while (next < users) {
      if (await fillUser(app, filling, `demo-${++next}`)) made.users++
      else made.there++
      bar.add()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  bar.end()
  return { ...made, samples: made.users * filling.days * filling.samples }
}

async function teamOf(app: App, id: string | undefined) {
  if (app.config.ENVIRONMENT !== 'sandbox') throw setupProblem('Only a sandbox is filled with data that is made up')
  const teams = await listAllTeams(app)
  const [team] = id ? teams.filter((team) => team.id === id) : teams
  if (!team) throw setupProblem('There is no such team; assay team lists them')
  return team.id
}
