import type { Config } from '../../../platform/config.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { systemResolve } from '../../../platform/outbound/resolve.ts'
import type { Reach } from './destination.ts'
import { googleTokens } from './google-tokens.ts'

export const reachOf = (config: Config): Reach => ({
  policy: policyOf(config),
  resolve: systemResolve(),
  pubsub: {
    endpoint: config.PUBSUB_ENDPOINT,
    projects: config.PUBSUB_PROJECTS,
    tokens: googleTokens(),
  },
})
