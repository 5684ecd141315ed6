import { Id } from '../contract/common.ts'
import { NewSchedule } from '../contract/labs/calendars.ts'
import { getSchedule, getSharedSchedule, putSchedule, putSharedSchedule } from '../labs/schedule/actions.ts'
import { requireTeam } from '../operations/transfer/read.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { recordOperator } from './record-operator.ts'
import { readJson } from './service.ts'
import { withApp } from './with-app.ts'

const team = { value: 'ID', what: 'Team that owns the schedule. Default: the schedule that all teams share.', shape: Id } as const

export const loadSchedule = command({
  name: 'schedule load',
  summary:
    'Load sites and phlebotomists with their working hours from a file in the format of PUT /v3/schedule. It replaces the schedule of a team, or the one that all teams share. Teams cannot overbook a shared site.',
  options: { file: { value: 'FILE', what: 'Schedule, as JSON.', required: true, file: true }, team },
  examples: ['assay schedule load --file schedule.json', 'assay schedule load --file schedule.json --team ID'],
  async run({ file, team, json }) {
    const { calendars } = readSchedule(file)
    const schedule = await withApp(async (app) => {
      const scope = await scopeOf(app, team)
      return recordOperator(
        app,
        'load schedule',
        (app) => (scope ? putSchedule(app, scope, calendars) : putSharedSchedule(app, calendars)),
        () => (team ? `team_id:${team}` : 'schedule'),
      )
    })
    print(json, schedule, [`loaded ${schedule.calendars.length} calendars`])
  },
})

export const showSchedule = command({
  name: 'schedule show',
  summary: 'Show the sites and phlebotomists of a team, or those that all teams share.',
  options: { team },
  async run({ team, json }) {
    const schedule = await withApp(async (app) => {
      const scope = await scopeOf(app, team)
      return scope ? getSchedule(app, scope) : getSharedSchedule(app)
    })
    print(
      json,
      schedule,
      listing(
        ['CODE', 'KIND', 'TIME ZONE', 'NAME'],
        schedule.calendars.map(({ code, kind, iana_timezone, name }) => [code, kind, iana_timezone, name]),
      ),
    )
  },
})

const scopeOf = async (app: App, team: string | undefined) => (team ? { team_id: (await requireTeam(app, team)).id } : undefined)

function readSchedule(path: string) {
  const parsed = NewSchedule.safeParse(readJson(path))
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  throw setupProblem(`The schedule is not valid: ${first?.path.join('.')}: ${first?.message}`)
}
