import type { App } from '../app.ts'
import { open, seal } from '../sealing/seal.ts'
import { teamSealingKey } from '../sealing/vault.ts'
import type { RabbitMq } from './rules.ts'

const place = (team_id: string) => `pipelines.sealed.${team_id}`

export const sealDestination = async (app: App, team_id: string, rabbitmq: RabbitMq) =>
  seal(await teamSealingKey(app, team_id), place(team_id), rabbitmq)

export const openDestination = async (app: App, { team_id, sealed }: { team_id: string; sealed: Buffer }) =>
  open<RabbitMq>(await teamSealingKey(app, team_id), place(team_id), sealed)
