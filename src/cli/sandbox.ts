import { Id, InstantIn } from '../contract/common.ts'
import { command, print } from './command.ts'
import { usageError } from './options.ts'
import { asTeam, Count, serviceOptions } from './service.ts'

const lineOf = ({ now, offset_seconds }: { now: string; offset_seconds: number }) =>
  `${now}${offset_seconds ? `, ${offset_seconds} s from real time` : ', real time'}`

export const showClock = command({
  name: 'sandbox clock',
  summary: "Show the team's sandbox clock.",
  options: serviceOptions,
  async run({ json, ...access }) {
    const clock = await asTeam(access).api.getClock()
    print(json, clock, [lineOf(clock)])
  },
})

export const advanceClock = command({
  name: 'sandbox advance',
  summary: "Move the team's sandbox clock forward. The command returns after everything that became due has happened, in order.",
  options: {
    ...serviceOptions,
    days: { value: 'N', what: 'Number of days.', shape: Count },
    seconds: { value: 'N', what: 'Number of seconds, instead of --days.', shape: Count },
    to: { value: 'TIME', what: 'New time, instead of --days.', shape: InstantIn },
  },
  examples: ['assay sandbox advance --days 8'],
  async run({ days, seconds, to, json, ...access }) {
    if ([days, seconds, to].filter((value) => value !== undefined).length !== 1) throw usageError('Pass one of --days, --seconds and --to.')
    const body = to ? { now: to } : { advance_seconds: days === undefined ? (seconds ?? 0) : days * 86_400 }
    const clock = await asTeam(access).api.moveClock({ body })
    print(json, clock, [lineOf(clock)])
  },
})

export const resetTeam = command({
  name: 'sandbox reset',
  summary:
    'Delete all users of a sandbox team with their orders, results and events, and empty its inbox. The clock returns to real time. Settings, keys, webhooks and lab tests stay. You cannot undo this.',
  options: {
    ...serviceOptions,
    team: { value: 'ID', what: 'Team to reset. As a safeguard, it must be the team of the key.', shape: Id, required: true },
  },
  async run({ team, json, ...access }) {
    const deleted = await asTeam(access).api.resetTeam({ body: { team_id: team } })
    print(json, deleted, [`deleted ${deleted.users} users and ${deleted.orders} orders`])
  },
})
