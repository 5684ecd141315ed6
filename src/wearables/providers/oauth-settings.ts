import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { Region } from './cloud.ts'
import { cloudOf } from './clouds.ts'
import { knownSources } from './oauth-sources.ts'

/** The OAuth settings of a source: those of OAUTH_SOURCES, or the documented ones. */
export const settingOf = ({ config }: App, provider: SourceSlug) => ({
  ...knownSources[provider],
  ...(config.OAUTH_SOURCES as Partial<Record<SourceSlug, (typeof config.OAUTH_SOURCES)['fitbit']>>)[provider],
})

/** All scopes of a source. Undefined if unknown. */
export function allScopesOf(app: App, provider: SourceSlug) {
  const { reads, other, scopes } = settingOf(app, provider)
  const all = [...new Set([...Object.keys(reads ?? {}), ...(other ?? []), ...(scopes ?? [])])]
  return all.length ? all : undefined
}

/** The regions of a source, by their name in requests. */
export const regionsOf = (app: App, provider: SourceSlug): Record<string, Region> =>
  settingOf(app, provider).regions ?? cloudOf(provider)?.regions ?? {}

/** The URLs of a region, which replace those of the source. */
export function regionOf(app: App, provider: SourceSlug, region: string | undefined) {
  const { name: _, ...urls } = (region === undefined ? undefined : regionsOf(app, provider)[region]) ?? { name: '' }
  return urls
}
