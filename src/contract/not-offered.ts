type NotOffered = { feature: string; paths: string[]; instead: string }

/**
 * Operations of the Junction API that Assay does not implement, and their alternatives. The error response and
 * docs/comparison.md come from this list. `{}` matches one path segment, and `…` at the end matches any remainder.
 */
export const notOffered: NotOffered[] = [
  {
    feature: 'queries over wearable data',
    paths: ['/aggregate/v1/…', '/v1/org/{}/team/{}/{}/continuous_query…', '/v1/org/{}/team/{}/{}/validate_continuous_query'],
    instead: 'Read the data and aggregate it yourself. Grouped time series accept downsample.',
  },
  { feature: 'link codes', paths: ['/v2/link/code/create'], instead: 'Use POST /v2/link/token.' },
  { feature: 'user portal', paths: ['/v2/user/{}/create_portal_url'], instead: 'Send users to the link_web_url of POST /v2/link/token.' },
  {
    feature: 'team details by team API key',
    paths: ['/v2/team/{}', '/v2/team/svix/url'],
    instead: 'Read teams and webhooks with a management key under /v1/org/{org_id}/team, or in the console.',
  },
  {
    feature: 'delivery metrics',
    paths: ['/v1/org/{}/team/{}/{}/event_delivery_metric'],
    instead: 'Read them in the console overview or from /metrics.',
  },
  { feature: 'email domains', paths: ['/v1/org/{}/domain…'], instead: 'Set MAIL_FROM to an address of your own domain.' },
  {
    feature: 'EHR integrations',
    paths: ['/v1/org/{}/ehr_integration/…', '/v1/org/{}/team_ehr_pipelines/…'],
    instead: 'Use webhooks or pipelines.',
  },
]

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\}/g, '[^/]+').replace(/\/?…$/, '(/.*)?')}$`)

const patterns = notOffered.flatMap((entry) => entry.paths.map((path) => ({ pattern: patternOf(path), absent: entry })))

export const findNotOffered = (path: string) => patterns.find(({ pattern }) => pattern.test(path))?.absent
