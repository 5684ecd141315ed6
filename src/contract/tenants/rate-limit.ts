import { z } from 'zod'

const REQUESTS = 'Requests that are accepted per second, over time.'
const BURST = 'Requests that are accepted at once after a pause. Default: requests_per_second.'

/** A fixed request rate of a team or a key. */
export const NewRateLimit = z
  .object({
    requests_per_second: z.int().min(1).max(100_000).describe(REQUESTS),
    burst: z.int().min(1).max(1_000_000).nullish().describe(BURST),
  })
  .meta({ id: 'NewRateLimit' })

export const RateLimit = z
  .object({ requests_per_second: z.int().describe(REQUESTS), burst: z.int().nullish().describe(BURST) })
  .meta({ id: 'RateLimit' })

export type RateLimit = z.output<typeof RateLimit>
