import type { Position } from '../../contract/delivery/log-rows.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import * as store from './store-retention.ts'

export const listTeamsWithDestinationsBehind = ({ db }: App, before: string) => store.listTeamsBehind(db, before)

export const moveDestinations = ({ db }: AppInTransaction, team_id: string, position: Position) =>
  store.moveDestinations(db, team_id, position)
