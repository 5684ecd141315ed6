import type { App } from '../../platform/app.ts'
import * as store from './store.ts'

/** Teams with a webhook whose filter names the event type, or all types of its kind. */
export const listTeamsNaming = async ({ db }: App, event_type: string) =>
  (await store.listTeamsNaming(db, [event_type, `${event_type.split('.')[0]}.*`])).map(({ team_id }) => team_id)
