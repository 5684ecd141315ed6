import { isSource, type SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { connectionsOfAccount } from '../connections/actions.ts'
import type { IncomingRequest, Reception } from '../providers/cloud.ts'
import { cloudOf } from '../providers/clouds.ts'
import { applicationOf } from './callback.ts'
import { PULL_FEEDS } from './schedule.ts'
import * as store from './store.ts'

export type ReceptionResponse = { status: 200 | 401 | 404; body: object }

const unknown: ReceptionResponse = { status: 404, body: { detail: 'No such callback URL.' } }
const refused: ReceptionResponse = { status: 401, body: { detail: 'The signature or the verification token is not valid.' } }

/** Verifies a notification of a source, stores what changed, and responds. A job reads the data afterwards. */
export async function receiveNotification(app: App, slug: string, secret: string, request: IncomingRequest): Promise<ReceptionResponse> {
  const receive = cloudOf(slug)?.receive
  if (!receive || !isSource(slug)) return unknown
  const application = await applicationOf(app, slug, secret)
  if (!application) return unknown
  const { client, verification_token, team_id } = application
  const reception = receive(request, { ...client, verification_token })
  if (!reception) return refused
  for (const change of reception.changes) await storeChange(app, slug, team_id, change)
  if (reception.changes.length) app.wake(PULL_FEEDS)
  return { status: 200, body: reception.body ?? {} }
}

type NewChange = Reception['changes'][number]

/** An account can be connected by users of several teams. One that nobody has connected anymore is ignored. */
async function storeChange(app: App, provider: SourceSlug, team_id: string | undefined, { account, feed, ...change }: NewChange) {
  const received_at = app.wall()
  for (const connection of await connectionsOfAccount(app, provider, account, team_id))
    await inTransaction(app, async (app) => {
      const { team_id, user_id, id: connection_id } = connection
      const { kind, object_id, deleted, at: changed_at } = change
      await store.insertChanges(app.db, [{ team_id, connection_id, user_id, feed, kind, object_id, deleted, changed_at, received_at }])
      await store.touchJobs(app.db, team_id, connection_id, [feed], received_at, false)
    })
}
