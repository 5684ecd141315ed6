import { z } from 'zod'
import { openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { authTypes, catalogSourceTypes, type Source } from './source.ts'
import { oauthSources } from './sources-oauth.ts'
import { passwordSources } from './sources-password.ts'
import { pushSources } from './sources-push.ts'

/** Every wearable source, by its slug. */
export const sources = { ...pushSources, ...oauthSources, ...passwordSources }

export type SourceSlug = keyof typeof sources

const slugsOf = <K extends string>(list: Record<K, unknown>) => Object.keys(list) as [K, ...K[]]

export const sourceSlugs = slugsOf(sources)

export const isSource = (slug: string): slug is SourceSlug => Object.hasOwn(sources, slug)

export const sourceOf = (slug: string): Source | undefined => (isSource(slug) ? sources[slug] : undefined)

const usesEmail = ({ auth_type }: Source) => auth_type === 'email'

const emailSlugs = sourceSlugs.filter((slug) => usesEmail(sources[slug]))
const passwordSlugs = slugsOf(passwordSources).filter((slug) => !usesEmail(sources[slug]))

const slugError = (kind: string) => ({ error: `Must be the slug of ${kind}; GET /v2/providers lists them.` })

export const SourceIn = z.enum(sourceSlugs, slugError('a source'))
export const OAuthSourceIn = z.enum(slugsOf(oauthSources), slugError('a source with auth_type oauth'))
export const PushSourceIn = z.enum(slugsOf(pushSources), slugError('a source that pushes'))
export const PasswordSourceIn = z.enum(passwordSlugs, slugError('a source with auth_type password'))
export const EmailSourceIn = z.enum(emailSlugs, slugError('a source with auth_type email'))

/** The resources that a source provides. */
export const resourcesOf = ({ summary_resources, timeseries_resources }: Source) => [...summary_resources, ...timeseries_resources]

const ListedSource = z
  .object({
    name: Safe,
    slug: Safe,
    description: Safe,
    logo: Safe.nullable().describe('The URL of the logo, on this deployment.'),
    auth_type: openEnum(authTypes),
    supported_resources: z.array(Safe),
  })
  .meta({ id: 'Source' })

export const sourceEndpoints = {
  listSources: endpoint({
    method: 'get',
    path: '/v2/providers',
    unaudited: true,
    auth: 'team',
    tag: 'Connections',
    summary: 'List wearable sources',
    subjects: {},
    query: z.object({ source_type: z.enum(catalogSourceTypes).nullish() }),
    returns: z.array(ListedSource),
  }),
}
