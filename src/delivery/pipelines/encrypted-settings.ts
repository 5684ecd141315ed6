import type { SupportedDestination } from '../../contract/delivery/pipelines.ts'
import type { App } from '../../platform/app.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { DestinationSettings } from './rules.ts'

const associatedData = (team_id: string, destination: SupportedDestination) => `pipeline_destinations.sealed.${team_id}.${destination}`

export const sealSettings = async (
  app: App,
  team_id: string,
  destination: SupportedDestination,
  settings: DestinationSettings[SupportedDestination],
) => seal(await teamSealingKey(app, team_id), associatedData(team_id, destination), settings)

export const openSettings = async <D extends SupportedDestination>(
  app: App,
  { team_id, sealed }: { team_id: string; sealed: Buffer },
  destination: D,
) => open<DestinationSettings[D]>(await teamSealingKey(app, team_id), associatedData(team_id, destination), sealed)
