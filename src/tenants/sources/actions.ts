import { resourcesOf, type SourceSlug, sourceSlugs, sources } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'

type Query = { source_type?: string | null | undefined }

export const listSources = async (app: App, { source_type }: Query) =>
  sourceSlugs
    .filter((slug) => !source_type || sources[slug].source_type === source_type)
    .map((slug) => ({ ...sources[slug], ...providerOf(app, slug), supported_resources: resourcesOf(sources[slug]) }))

/** A source as it appears in users, connections and events. */
export const providerOf = (app: App, slug: SourceSlug) => ({ name: sources[slug].name, slug, logo: logoOf(app, slug) })

const logoOf = ({ config }: App, slug: SourceSlug) => `${publicUrl(config)}/assets/sources/${slug}.svg`
