import { z } from 'zod'
import type { App } from '../app.ts'
import { Id } from '../contract/common.ts'
import { setupProblem } from '../problem.ts'
import { fillUser } from '../providers/demo/fill.ts'
import { listAllTeams } from '../teams/actions.ts'
import { recordOperator } from './audited.ts'
import { type Command, options, print, shaped, withApp } from './command.ts'
import { progress } from './progress.ts'

const line = 'assay seed wearables [--users N] [--days N] [--samples N] [--team ID] [--json]'

const wanted = {
  users: { type: 'string', default: '100' },
  days: { type: 'string', default: '30' },
  samples: { type: 'string', default: '300' },
  team: { type: 'string' },
} as const

const Count = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/, `Must be a whole number from 1 to ${most}.`)
    .transform(Number)
    .refine((count) => count <= most, `Must be a whole number from 1 to ${most}.`)

export const seedWearables: Command = {
  usage: line,
  summary:
    'Fill a team of the sandbox with users and past days of wearable data, so many samples a day. What an earlier run made is left alone, so it can be run again.',
  async run(args) {
    const { values } = options(args, wanted, line)
    const users = shaped(Count(1_000_000), values.users, '--users')
    const days = shaped(Count(366), values.days, '--days')
    const samples = shaped(Count(2880), values.samples, '--samples')
    const team = values.team === undefined ? undefined : shaped(Id, values.team, '--team')
    const made = await withApp(async (app) => {
      const team_id = await teamOf(app, team)
      const subject = () => `team_id:${team_id}`
      await recordOperator(app, 'seed wearables', async () => undefined, subject)
      return fill(app, { team_id, users, days, samples })
    })
    print(values.json, made, [`made ${made.users} users with ${made.samples} samples; ${made.there} users were there`])
  },
}

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
