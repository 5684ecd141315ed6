import type { App, AppInTransaction } from '../../platform/app.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The formats of a team's destinations by webhook ID or the name of a pipeline destination. Those without one have always been full. */
export async function listFormats({ db }: Pick<App, 'db'>, team_id: string) {
  const rows = await store.listFormats(db, team_id)
  return new Map<string, rules.FormatVersion[]>(Map.groupBy(rows, ({ destination }) => destination))
}

export const findFormats = async (app: Pick<App, 'db'>, team_id: string, destination: string) =>
  (await listFormats(app, team_id)).get(destination) ?? []

type Target = { team_id: string; destination: string; after_no: number }

/** Changes a format for the events after a position. The log is locked. */
export async function changeFormat(app: AppInTransaction, { team_id, destination, after_no }: Target, change: rules.FormatChange) {
  const settings = rules.changedFormat(await findFormats(app, team_id, destination), change)
  if (settings) await store.putFormat(app.db, { team_id, destination, after_no, ...settings })
}

/** Deletes the formats of deleted destinations. */
export const forgetFormats = ({ db }: AppInTransaction, team_id: string, destinations: readonly string[]) =>
  store.deleteFormats(db, team_id, destinations)
