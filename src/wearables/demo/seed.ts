import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { createUser } from '../../delivery/events/user-events.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { Problem } from '../../platform/problem.ts'
import { runAtOnce } from '../../platform/shares/slices.ts'
import { requireUser, resolveUser } from '../../tenants/users/actions.ts'
import { connectionFor, linkConnection } from '../connections/actions.ts'
import { openPush } from '../data/incoming-push.ts'
import { parsePushedSamples, saveSamples } from '../data/samples/ingest.ts'
import { MAX_SAMPLES } from '../data/samples/rules-samples.ts'
import { bulkReport } from './rules-bulk.ts'
import { dayAfter } from './rules-day.ts'

export type DemoSeedOptions = { team_id: string; days: number; samples: number }

const SOURCE: SourceSlug = 'fitbit'

/** Creates a user with demo data. Returns false if an earlier run created both. */
export const seedDemoUser = (app: App, { team_id, days, samples }: DemoSeedOptions, client_user_id: string) =>
  inTransaction(app, async (app) => {
    const user = await requireUser(app, team_id, await ensureUser(app, team_id, client_user_id))
    if (await connectionFor(app, user, SOURCE)) return false
    await linkConnection(app, user, SOURCE, { kind: 'demo' })
    const today = app.now().slice(0, 10)
    const dates = Array.from({ length: days }, (_, i) => dayAfter(today, i - days))
    for (const part of chunks(dates, Math.max(1, Math.floor(MAX_SAMPLES / samples)))) {
      const [start_date, end_date] = [`${part[0]}T00:00:00.000Z`, `${dayAfter(part.at(-1) as string)}T00:00:00.000Z`]
      const body = { stage: 'historical', provider: SOURCE, time_zone: 'UTC', start_date, end_date } as const
      const push = await openPush(app, user, user.user_id, body)
      const report = bulkReport({ source: SOURCE, user_id: user.user_id, dates: part, samples })
      const parsed = (['heartrate', 'glucose'] as const).map((name) => runAtOnce(parsePushedSamples(push, name, report[name])))
      await saveSamples(app, push, parsed)
    }
    return true
  })

async function ensureUser(app: App, team_id: string, client_user_id: string) {
  const existing = await resolveUser(app, { team_id }, client_user_id).catch((error) => {
    if (error instanceof Problem && error.kind === 'not_found') return undefined
    throw error
  })
  return (existing ?? (await createUser(app, { team_id }, { client_user_id }))).user_id
}

const chunks = <T>(list: T[], size: number) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
