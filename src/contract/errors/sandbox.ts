import { errors } from './kinds.ts'

export const sandboxErrors = errors({
  CLOCK_IS_MOVING: {
    kind: 'conflict',
    meaning: 'Another request has been moving the sandbox clock for more than 30 seconds.',
    remedy: 'Retry after a few seconds.',
  },
  CLOCK_MOVES_FORWARD: {
    kind: 'refused',
    meaning: 'The sandbox clock cannot move backward.',
    remedy: 'Reset it to real time with POST /sandbox/clock/reset.',
  },
  NOT_THE_TEAM: {
    kind: 'refused',
    meaning: 'The team_id in the request is not the team of the key.',
    remedy: 'Send the team_id of the team that the key belongs to.',
  },
})
