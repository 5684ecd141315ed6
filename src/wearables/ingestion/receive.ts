import { isSource, type SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { connectionById, connectionsOfAccount, failConnection } from '../connections/actions.ts'
import { endPulls } from '../data/backfill.ts'
import { openCloud } from '../providers/call.ts'
import { type Cloud, type IncomingRequest, isCloudError, type Reception } from '../providers/cloud.ts'
import { cloudOf } from '../providers/clouds.ts'
import { listTeams } from './applications/store.ts'
import { applicationOf } from './callback.ts'
import { PULL_FEEDS } from './schedule.ts'
import * as store from './store.ts'

export type ReceptionResponse = { status: 200 | 201 | 204 | 401 | 404 | 503; body: object }

const unknown: ReceptionResponse = { status: 404, body: { detail: 'No such callback URL.' } }
const refused: ReceptionResponse = { status: 401, body: { detail: 'The signature or the verification token is not valid.' } }
const unverified: ReceptionResponse = {
  status: 503,
  body: { detail: 'The keys of the source could not be read. Send the notification again.' },
}

/** Verifies a notification of a source, stores what changed, and responds. A job reads the data afterwards. */
export async function receiveNotification(app: App, slug: string, secret: string, request: IncomingRequest): Promise<ReceptionResponse> {
  const cloud = cloudOf(slug)
  if (!cloud?.receive || !isSource(slug)) return unknown
  const application = await applicationOf(app, slug, secret)
  if (!application) return unknown
  const { client, verification_token, team_id } = application
  const { call, close } = openCloud(app, slug, client)
  const receiver = { ...client, verification_token, api_url: client.api_url ?? cloud.api_url, now: app.wall() }
  const reception = await Promise.resolve(cloud.receive(request, receiver, call))
    .catch(cloudFault)
    .finally(close)
  if (!reception) return refused
  if (isCloudError(reception)) return unverified
  const changes = reception.changes.filter((change) => isUsable(cloud, change))
  const teams = team_id ? [team_id] : await listTeams(app.db, slug)
  for (const change of changes) await storeChange(app, slug, teams, change)
  for (const account of reception.ended ?? []) await endAccount(app, slug, teams, account)
  if (changes.length) app.wake('job', PULL_FEEDS)
  return { status: reception.status ?? 200, body: reception.body ?? {} }
}

/** A source that does not give its keys sends the notification again. */
function cloudFault(error: unknown) {
  if (!isCloudError(error)) throw error
  return error
}

type NewChange = Reception['changes'][number]

const isShortText = (text: string) => text.length <= 200 && !/\p{Cc}/u.test(text)
/** Years after 9999 have a sign. */
const isTime = (text: string) => /^\d{4}-/.test(text)

/** Whether the database can store the change. One that it cannot store would come again and again. */
const isUsable = ({ feeds = {} }: Cloud, { feed, kind, object_id, at, window }: NewChange) =>
  Object.hasOwn(feeds, feed) && isShortText(kind) && isShortText(object_id) && [at, window?.from ?? at, window?.to ?? at].every(isTime)

/** An account can be connected by users of several teams. One that nobody has connected anymore is ignored. */
async function storeChange(app: App, provider: SourceSlug, teams: string[], { account, feed, ...change }: NewChange) {
  const received_at = app.wall()
  for (const connection of await connectionsOfAccount(app, provider, account, teams))
    await inTransaction(app, async (app) => {
      const { team_id, user_id, id: connection_id } = connection
      const { kind, object_id, deleted, at: changed_at, window } = change
      const period = { window_from: window?.from ?? null, window_to: window?.to ?? null }
      const row = { team_id, connection_id, user_id, feed, kind, object_id, deleted, changed_at, received_at, ...period }
      await store.insertChanges(app.db, [row])
      await store.touchJobs(app.db, team_id, connection_id, [feed], received_at, false)
    })
}

/** The user ended the access at the source. */
async function endAccount(app: App, provider: SourceSlug, teams: string[], account: string) {
  for (const { team_id: owner, id } of await connectionsOfAccount(app, provider, account, teams))
    await inTransaction(await withTeamClock(app, owner), async (app) => {
      const connection = await connectionById(app, owner, id)
      if (!connection) return
      await failConnection(app, connection, {
        error_type: 'deregistered_per_provider',
        message: 'The user ended the access at the source. They have to connect again.',
        details: 'The source reported that the user ended the access.',
      })
      await endPulls(app, connection, { status: 'failure', error_details: 'non_retriable_error' })
      await store.stopJobs(app.db, owner, id)
    })
}
