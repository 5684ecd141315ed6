import type { Config } from '../config.ts'
import { policyOf } from '../webhooks/address.ts'
import { systemResolve } from '../webhooks/resolve.ts'
import { googleTokens } from './google-tokens.ts'
import type { Reach } from './outlet.ts'

export const reachOf = (config: Config): Reach => ({
  policy: policyOf(config),
  resolve: systemResolve(),
  pubsub: {
    endpoint: config.PUBSUB_ENDPOINT,
    projects: config.PUBSUB_PROJECTS,
    tokens: googleTokens(),
  },
})
