type Absent = { what: string; paths: string[]; instead: string }

/**
 * Routes of the public interface that are not offered here, and what to do instead. Whoever moves learns it from the answer
 * and from docs/guides/moving.md. `{}` stands for any one part of a path, `…` at its end for whatever follows.
 */
export const notOffered: Absent[] = [
  {
    what: 'appointments',
    paths: [
      '/v3/order/phlebotomy/appointment/…',
      '/v3/order/{}/phlebotomy/appointment…',
      '/v3/order/psc/appointment/…',
      '/v3/order/{}/psc/appointment…',
    ],
    instead: 'The lab arranges appointments with the patient and reports them as steps of the order.',
  },
  {
    what: 'where a lab collects samples',
    paths: ['/v3/order/area/info', '/v3/order/psc/info', '/v3/order/{}/psc/info'],
    instead: 'Ask the lab; placing an order refuses a state that the lab does not serve.',
  },
  {
    what: 'messages to patients',
    paths: ['/v3/order/{}/communication_settings'],
    instead: 'Nothing is sent to patients from here; send what they should get yourself.',
  },
  {
    what: 'search across labs',
    paths: ['/v3/compendium/…'],
    instead: 'Search markers with GET /v3/lab_tests/markers and lab tests with GET /v3/lab_test.',
  },
  {
    what: 'results that fit no order',
    paths: ['/v3/unmatched_result…', '/v3/unmatched_result_test…'],
    instead: 'Labs report under an order, so there are none.',
  },
  { what: 'reading lab reports', paths: ['/lab_report/v1/…'], instead: 'Labs report results as data.' },
  {
    what: 'queries over wearable data',
    paths: ['/aggregate/v1/…', '/v1/org/{}/team/{}/{}/continuous_query…', '/v1/org/{}/team/{}/{}/validate_continuous_query'],
    instead: 'Read the data and count it yourself; grouped time series take downsample.',
  },
  { what: 'codes that link a user', paths: ['/v2/link/code/create'], instead: 'Use POST /v2/link/token.' },
  { what: 'a portal for users', paths: ['/v2/user/{}/create_portal_url'], instead: 'Send users to the link page of POST /v2/link/token.' },
  {
    what: 'the team by its own key',
    paths: ['/v2/team/{}', '/v2/team/{}/physicians', '/v2/team/svix/url'],
    instead: 'Teams and webhooks are read with a management key under /v1/org/{org_id}/team, or at the console.',
  },
  {
    what: 'delivery figures',
    paths: ['/v1/org/{}/team/{}/{}/event_delivery_metric'],
    instead: 'They are on the overview of the console and in /metrics.',
  },
  { what: 'domains of e-mail', paths: ['/v1/org/{}/domain…'], instead: 'No e-mail is sent from here.' },
  {
    what: 'patient records systems',
    paths: ['/v1/org/{}/ehr_integration/…', '/v1/org/{}/team_ehr_pipelines/…'],
    instead: 'Use webhooks or pipelines.',
  },
]

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\}/g, '[^/]+').replace(/\/?…$/, '(/.*)?')}$`)

const patterns = notOffered.flatMap((absent) => absent.paths.map((path) => ({ pattern: patternOf(path), absent })))

export const notOfferedAt = (path: string) => patterns.find(({ pattern }) => pattern.test(path))?.absent
