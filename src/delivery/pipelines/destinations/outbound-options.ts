import type { Config } from '../../../platform/config.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { systemResolve } from '../../../platform/outbound/resolve.ts'
import type { OutboundOptions } from './destination.ts'
import { googleTokens } from './google-tokens.ts'

export const outboundOptionsOf = (config: Config): OutboundOptions => ({
  policy: policyOf(config),
  resolve: systemResolve(),
  pubsub: {
    endpoint: config.PUBSUB_ENDPOINT,
    projects: config.PUBSUB_PROJECTS,
    tokens: googleTokens(),
  },
})
