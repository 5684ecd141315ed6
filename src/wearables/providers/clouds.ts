import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { Cloud } from './cloud.ts'
import { dexcomV3 } from './dexcom_v3/index.ts'
import { googleHealth } from './google_health/index.ts'
import { oura } from './oura/index.ts'
import { whoop } from './whoop/index.ts'
import { withings } from './withings/index.ts'

/** The clouds that Assay reads. */
const clouds: Partial<Record<SourceSlug, Cloud>> = { oura, withings, whoop_v2: whoop, google_health: googleHealth, dexcom_v3: dexcomV3 }

export const cloudOf = (provider: string): Cloud | undefined =>
  Object.hasOwn(clouds, provider) ? clouds[provider as SourceSlug] : undefined

export const cloudSlugs = Object.keys(clouds) as SourceSlug[]
