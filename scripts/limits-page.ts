import { MAX_CALENDARS } from '../src/contract/labs/calendars.ts'
import { MAX_REPORT_FILE_BYTES, MAX_REPORT_FILES } from '../src/contract/labs/report-parser.ts'
import { MAX_BULK_ITEMS } from '../src/contract/wearables/bulk.ts'
import { MAX_PULLED_DAYS } from '../src/contract/wearables/source-status.ts'
import { MAX_WEBHOOKS } from '../src/delivery/webhooks/management/actions.ts'
import { MAX_WEBHOOK_HEADERS } from '../src/delivery/webhooks/management/rules-headers.ts'
import { MAX_PARKED } from '../src/delivery/webhooks/repair/recover.ts'
import { MAX_FORM_PARTS } from '../src/http/body/form.ts'
import { BODIES_OF_CREDENTIAL, BODIES_OF_PROCESS } from '../src/http/body/in-flight.ts'
import { LONG_BODY } from '../src/http/body/json.ts'
import { USER_TOKEN_LIMIT } from '../src/http/body/read-body.ts'
import { MAX_LIST_ENTRIES, MAX_OBJECTS, MAX_VALUES } from '../src/http/body/rules-size.ts'
import { MAX_STREAMS_PER_TEAM } from '../src/http/connections/stream.ts'
import { MAX_UNFINISHED_PER_NETWORK, MAX_UNFINISHED_PER_PROCESS } from '../src/http/connections/unfinished.ts'
import { MAX_SEARCH_LENGTH } from '../src/http/docs/page-response.ts'
import { MAX_DEPTH } from '../src/http/input.ts'
import { MAX_CHANGES } from '../src/http/pages/opt-out.ts'
import { LARGE_BODY } from '../src/http/routes.ts'
import { BODY_LIMIT, HEADER_LIMIT, HEADERS_TIMEOUT_MS, MAX_PARAM_LENGTH, REQUEST_TIMEOUT_MS } from '../src/http/server.ts'
import { MAX_RADIUS_MILES } from '../src/labs/coverage/rules.ts'
import { MAX_BATCH_MESSAGES } from '../src/labs/hl7/codec/rules-batch.ts'
import { MAX_TEXT } from '../src/labs/hl7/inbox/rules.ts'
import { MAX_MLLP_CONNECTIONS, MLLP_MESSAGE_MS } from '../src/labs/hl7/mllp/server.ts'
import { MAX_RESENT_ORDERS } from '../src/labs/orders/progress/actions.ts'
import { MAX_COUNTED_ORDERS } from '../src/labs/orders/reading/store-list.ts'
import { MAX_PENDING_JOBS } from '../src/labs/report-parser/actions.ts'
import { MAX_REPORT_PAGES } from '../src/labs/report-parser/pdf/rules-text.ts'
import { MAX_RESULTS } from '../src/labs/report-parser/rules-values.ts'
import { STATEMENT_TIMEOUT_MS } from '../src/platform/db/connections/role-settings.ts'
import { LONG_READS, MAX_PENDING, REQUESTS } from '../src/platform/shares/turns.ts'
import { MINUTE, SECOND } from '../src/platform/time.ts'
import { MAX_MANAGEMENT_KEYS, MAX_TEAM_KEYS } from '../src/tenants/keys/rules.ts'
import { MAX_ATTEMPTS } from '../src/tenants/people/sessions/attempt-limiter.ts'
import { MAX_ATTEMPTS_PER_NETWORK, MAX_ATTEMPTS_PER_PERSON } from '../src/tenants/people/sessions/sign-in-limiter.ts'
import { MAX_REFRESHES_PER_HOUR } from '../src/wearables/connections/rules.ts'
import { MAX_RANGE_YEARS } from '../src/wearables/data/rules-window.ts'
import { MAX_ARRAY_SAMPLES, MAX_PAGE_SAMPLES, PAGE_SIZE } from '../src/wearables/data/samples/read.ts'
import { MAX_DAYS, MAX_SAMPLES } from '../src/wearables/data/samples/rules-samples.ts'
import { MAX_LISTED_SUMMARIES } from '../src/wearables/data/summaries/read-summaries.ts'
import { MAX_SUMMARIES } from '../src/wearables/data/summaries/rules-summary.ts'
import { MAX_OPEN_FLOWS } from '../src/wearables/link/oauth.ts'
import { MAX_WRONG_CODES } from '../src/wearables/link/rules.ts'
import { code, table } from './markdown.ts'

const number = (value: number) => value.toLocaleString('en-US')
const size = (bytes: number) => (bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`)
const seconds = (ms: number) => `${ms / SECOND} seconds`

const rows: [limit: string, value: string, over: string][] = [
  [
    'Body, after decompression',
    `${size(BODY_LIMIT)}; ${size(LARGE_BODY)} for orders, pushed data and lab reports; ${size(USER_TOKEN_LIMIT)} with a sign-in token of a user`,
    '413 `BODY_TOO_LARGE`',
  ],
  ['Entries of a list in a body', number(MAX_LIST_ENTRIES), '413 `BODY_TOO_LARGE`'],
  ['Values in a body', `${number(MAX_VALUES)}, of which ${number(MAX_OBJECTS)} objects, lists and texts`, '413 `BODY_TOO_LARGE`'],
  ['Levels of nesting in a body', String(MAX_DEPTH), '422'],
  ['Parts of a form', String(MAX_FORM_PARTS), '422'],
  [
    'Bodies that arrive or are processed at the same time',
    `${size(BODIES_OF_CREDENTIAL)} of memory per credential, ${size(BODIES_OF_PROCESS)} per process; a body up to ${size(LONG_BODY)} counts twice its bytes, a longer one also its values`,
    '429 `TOO_MUCH_IN_FLIGHT`',
  ],
  ['Headers of a request, with its URL', size(HEADER_LIMIT), '431'],
  ['A segment of a path', `${number(MAX_PARAM_LENGTH)} characters`, '400 `BAD_URL`'],
  ['Time to send the headers', seconds(HEADERS_TIMEOUT_MS), '408'],
  ['Time to send a request', seconds(REQUEST_TIMEOUT_MS), '408'],
  [
    'Connections whose request has not arrived completely',
    `${MAX_UNFINISHED_PER_NETWORK} per network, ${number(MAX_UNFINISHED_PER_PROCESS)} per process`,
    'the oldest is closed',
  ],
  ['Duration of a database statement', seconds(STATEMENT_TIMEOUT_MS), '503 `DATABASE_UNAVAILABLE`'],
  ['Requests of a team that run at the same time, while other teams are active', `${REQUESTS.atOnce} per process`, 'more requests wait'],
  [
    'Concurrent reads of samples and summaries of a team',
    `${LONG_READS.atOnce} per process; ${number(MAX_PENDING)} more wait, for ${seconds(LONG_READS.waitMs)} each`,
    '429 `TEAM_OVERLOADED`',
  ],
  ['Requests of a team that wait', `${number(MAX_PENDING)} per process, for ${seconds(REQUESTS.waitMs)} each`, '429 `TEAM_OVERLOADED`'],
  ['Requests per second', 'none by default; `rate_limit` of a team or a key', '429 `RATE_LIMITED`'],
  ['Samples in a push', `${number(MAX_SAMPLES)}, of ${number(MAX_DAYS)} days`, '422'],
  ['Summaries in a push', number(MAX_SUMMARIES), '422'],
  ['Period of a read of samples or summaries', `${MAX_RANGE_YEARS} years`, '422'],
  ['Samples in a page', number(PAGE_SIZE), 'a `next_cursor`'],
  ['Samples that are read for a downsampled page', `${number(MAX_PAGE_SAMPLES)}, in whole days`, 'a `next_cursor`'],
  ['Samples in an array without pages', number(MAX_ARRAY_SAMPLES), '400 `TOO_MANY_SAMPLES`'],
  ['Summaries in a response', number(MAX_LISTED_SUMMARIES), '400 `TOO_MANY_SUMMARIES`'],
  ['Webhooks of a team', number(MAX_WEBHOOKS), '400 `TOO_MANY_WEBHOOKS`'],
  ['API keys of a team', number(MAX_TEAM_KEYS), '400 `TOO_MANY_API_KEYS`'],
  ['Management keys of an organization', number(MAX_MANAGEMENT_KEYS), '400 `TOO_MANY_MANAGEMENT_KEYS`'],
  ['Headers of a webhook', String(MAX_WEBHOOK_HEADERS), '400 `WEBHOOK_HEADER_REFUSED`'],
  ['Failed messages of a webhook that wait for a retry, to which a recovery adds more', number(MAX_PARKED), 'the recovery waits'],
  ['Orders whose events a request sends again', number(MAX_RESENT_ORDERS), '400 `TOO_MANY_TO_RESEND`'],
  ['Orders that a list counts', number(MAX_COUNTED_ORDERS), '`total` is a lower bound; sorting by patient gets 400'],
  ['Calendars of a schedule', String(MAX_CALENDARS), '422'],
  ['Radius of a search for collection sites', `${MAX_RADIUS_MILES} miles`, '422'],
  [
    'Files of a lab report to parse',
    `${MAX_REPORT_FILES}, of ${size(MAX_REPORT_FILE_BYTES)} and ${MAX_REPORT_PAGES} pages each`,
    '422; with more pages, the job fails with `too_many_pages`',
  ],
  ['Lab reports of a team that are not parsed yet', String(MAX_PENDING_JOBS), '429 `TOO_MANY_PARSING_JOBS`'],
  ['Results that are read from such a file', number(MAX_RESULTS), 'the others are listed in `unread`'],
  ['Connections to an HL7 listener', String(MAX_MLLP_CONNECTIONS), 'the longest idle one is closed'],
  ['Time for a whole message of a lab over MLLP', `${MLLP_MESSAGE_MS / MINUTE} minutes`, 'the connection is closed'],
  ['Messages of an HL7 file', number(MAX_BATCH_MESSAGES), 'the file is refused'],
  ['Text of an HL7 message besides its documents', size(MAX_TEXT), 'the message is refused'],
  ['Search in the documentation', `${MAX_SEARCH_LENGTH} characters`, 'the rest is ignored'],
  ['Open event streams of a team', `${MAX_STREAMS_PER_TEAM} per service`, '429 `TOO_MANY_STREAMS`'],
  [
    'Failed sign-ins in 15 minutes',
    `${MAX_ATTEMPTS_PER_PERSON} per email and network, ${MAX_ATTEMPTS_PER_NETWORK} per network and per email`,
    '429 `TOO_MANY_SIGN_INS`',
  ],
  [
    'Notifications with an unknown URL or an invalid signature, and invalid unsubscribe links, in 15 minutes',
    `${MAX_ATTEMPTS} of each kind per network; valid notifications do not count`,
    '429 `TOO_MANY_ATTEMPTS`',
  ],
  ['Changes with an unsubscribe link in 15 minutes', `${MAX_CHANGES} per patient`, '429 `TOO_MANY_ATTEMPTS`'],
  ['Refreshes of the sources of a user', `${MAX_REFRESHES_PER_HOUR} per hour`, '429 `TOO_MANY_REFRESHES`'],
  ['Period of a source that is pulled again', `${MAX_PULLED_DAYS} days`, '422'],
  ['Users or connections in a bulk request', number(MAX_BULK_ITEMS), '422'],
  ['Wrong codes for a sign-in at a source', String(MAX_WRONG_CODES), 'the sign-in starts over'],
  ['Sign-ins that a link token starts in 10 minutes', String(MAX_OPEN_FLOWS), '429 `TOO_MANY_LINKS`'],
]

/** The limits in the code, for docs/limits.md. Limits of single fields are in the API reference. */
export const limitsTable = () => table(['Limit', 'Value', `Over it (${code('error_type')})`], rows)
