import { Id, InstantIn } from '../contract/common.ts'
import { command, print, usage } from './command.ts'
import { asTeam, reach } from './service.ts'
import { Count } from './users.ts'

const lineOf = ({ now, offset_seconds }: { now: string; offset_seconds: number }) =>
  `${now}${offset_seconds ? `, ${offset_seconds} s from real time` : ', real time'}`

export const showClock = command({
  name: 'sandbox clock',
  summary: "Show the team's clock.",
  options: reach,
  async run({ json, ...given }) {
    const clock = await asTeam(given).api.getClock()
    print(json, clock, [lineOf(clock)])
  },
})

export const advanceClock = command({
  name: 'sandbox advance',
  summary: "Move the team's clock forward; answers once everything that falls due has happened, in order.",
  options: {
    ...reach,
    days: { value: 'N', what: 'By so many days.', shape: Count },
    seconds: { value: 'N', what: 'Or by so many seconds.', shape: Count },
    to: { value: 'INSTANT', what: 'Or to this moment.', shape: InstantIn },
  },
  examples: ['assay sandbox advance --days 8'],
  async run({ days, seconds, to, json, ...given }) {
    if ([days, seconds, to].filter((one) => one !== undefined).length !== 1) throw usage('Give one of --days, --seconds and --to.')
    const body = to ? { now: to } : { advance_seconds: days === undefined ? (seconds ?? 0) : days * 86_400 }
    const clock = await asTeam(given).api.moveClock({ body })
    print(json, clock, [lineOf(clock)])
  },
})

export const resetTeam = command({
  name: 'sandbox reset',
  summary:
    'Empty a team of the sandbox for good: users, orders, results, events, inbox; the clock goes back to real time. Settings, keys, webhooks and lab tests stay.',
  options: { ...reach, team: { value: 'ID', what: 'The team, named so that none is emptied by mistake.', shape: Id, required: true } },
  async run({ team, json, ...given }) {
    const emptied = await asTeam(given).api.resetTeam({ body: { team_id: team } })
    print(json, emptied, [`took away ${emptied.users} users and ${emptied.orders} orders`])
  },
})
