import { newShares } from '../../src/delivery/webhooks/sending/shares.ts'
import { openTeamRun, type TeamContext, type TeamRun } from '../../src/delivery/worker/team-run.ts'
import type { App } from '../../src/platform/app.ts'
import { type Outcome, outcomeWithoutExchange } from '../../src/platform/outbound/outcome.ts'
import type { Message } from '../../src/platform/outbound/send.ts'
import { query } from './query.ts'
import { newUuid } from './seeded.ts'

/** What a webhook received, with its parsed headers. */
export type Arrival = { path: string; no: number; previous: number | null; key: string; id: string }

const arrivalOf = ({ url, headers }: Message): Arrival => ({
  path: new URL(url).pathname,
  no: Number(headers['webhook-sequence']),
  previous: headers['webhook-previous'] === undefined ? null : Number(headers['webhook-previous']),
  key: headers['webhook-key'] as string,
  id: headers['webhook-id'] as string,
})

export const outcomeOf = (status: number | null, error: Outcome['error'] = status === 200 ? null : 'status') =>
  outcomeWithoutExchange(status, error)

/** So few that bytes limit pages and windows too. */
const MAX_BYTES = 3000

/** A worker of one team that the test drives. It never waits for neighbors, and it is as alive as the test says. */
export async function modelWorker(
  app: App,
  url: string,
  team_id: string,
  receive: (arrival: Arrival, message: Message) => Promise<Outcome>,
) {
  let id = await startLease(url)
  let isHeld = true
  let team: TeamRun | undefined
  let open = 0
  const errors: unknown[] = []
  const messages = newShares(1024)

  const newContext = (worker: string): TeamContext => ({
    app,
    async send(message) {
      open += 1
      try {
        return await receive(arrivalOf(message), message)
      } finally {
        open -= 1
      }
    },
    timeoutMs: 15_000,
    moveGapMs: 0,
    recordWaitMs: 0,
    idleMs: 0,
    isHeld: () => isHeld && worker === id,
    requests: newShares(64),
    messages,
    bytes: newShares(MAX_BYTES),
    worker: () => worker,
    live: () => liveWorkers(url),
    outbound: {} as TeamContext['outbound'],
    recordSent: () => {},
    recordPublished: () => {},
    onError: (error) => errors.push(error),
  })

  function run() {
    team ??= openTeamRun(newContext(id), team_id, () => {
      team = undefined
    })
    return team
  }

  return {
    errors,
    wake: () => run().wake(),
    tick: async () => team?.tick(),
    /** Gives everything up after it is recorded. */
    stop: async () => team?.stop(performance.now() + 10_000),
    /** Messages in windows. */
    countHeld: () => messages.total(),
    /** Requests without a response. */
    countOpen: () => open,
    isBusy: () => team?.isBusy() ?? false,
    /** Loses its lease: it sends nothing more, and others may take the team, but what it has sent is still recorded. */
    async loseLease() {
      isHeld = false
      await endLease(url, id)
    },
    /** Notices that its lease was lost, and gets another one. */
    async returnToLife() {
      team?.close()
      await endLease(url, id)
      id = await startLease(url)
      isHeld = true
    },
    /** Like kill -9: what is not recorded is lost. */
    async crash() {
      team?.close()
      await endLease(url, id)
      id = await startLease(url)
      isHeld = true
    },
    isHeld: () => isHeld,
    async end() {
      team?.close()
      await endLease(url, id)
    },
  }
}

export type ModelWorker = Awaited<ReturnType<typeof modelWorker>>

async function startLease(url: string) {
  const id = newUuid()
  await query(url, "insert into workers (id, leased_until) values ($1, now() + interval '1 hour')", [id])
  return id
}

const endLease = (url: string, id: string) => query(url, 'delete from workers where id = $1', [id])

const liveWorkers = async (url: string) =>
  (await query<{ id: string }>(url, 'select id from workers where leased_until > now()')).map(({ id }) => id)
