import { isSameText } from '../../../platform/sealing/same-bytes.ts'
import { DAY, SECOND } from '../../../platform/time.ts'
import type { Cloud, Reception, Window } from '../cloud.ts'
import { parseJson } from '../untrusted.ts'
import { Notifications } from './api.ts'
import { isSigned, SIGNATURE_HEADER } from './signature.ts'
import { kinds } from './types.ts'

/** The secret comes first, so that only requests with it make Assay look up keys. */
export const receive: NonNullable<Cloud['receive']> = async ({ headers, body }, { verification_token, api_url, now }, call) => {
  if (!isSameText(headers['authorization'] ?? '', `Bearer ${verification_token}`)) return undefined
  const json = parseJson(body)
  // Google checks a new callback URL with and without the secret.
  if ((json as { type?: unknown } | undefined)?.type === 'verification') return { status: 201, changes: [] }
  const isValid = await isSigned({ header: headers[SIGNATURE_HEADER] ?? '', body }, { call, api_url, now })
  if (!isValid) return undefined
  const { data: notifications } = Notifications.safeParse(json)
  return { status: 204, changes: (notifications ?? []).flatMap(({ data }) => changesOf(data, now)) }
}

type Notified = { healthUserId: string; operation: string; dataType: string; intervals: { physicalTimeInterval: Interval }[] }
type Interval = { startTime: string; endTime: string }

/** A change for each interval. Notifications have no time of their own. */
function changesOf({ healthUserId: account, operation, dataType, intervals }: Notified, now: string): Reception['changes'] {
  const feed = Object.hasOwn(kinds, dataType) ? kinds[dataType] : undefined
  if (!feed) return []
  return intervals.flatMap(({ physicalTimeInterval }) => {
    const window = windowOf(physicalTimeInterval)
    if (!window) return []
    return [{ account, feed, kind: dataType, object_id: `${window.from}/${window.to}`, deleted: operation === 'DELETE', at: now, window }]
  })
}

const MAX_WINDOW_MS = 366 * DAY
/** The last moment that a date can have. */
const MAX_TIME = 8.64e15

function windowOf({ startTime, endTime }: Interval): Window | undefined {
  const [from, to] = [Date.parse(startTime), Date.parse(endTime)]
  if (!(to >= from)) return undefined
  // Filters do not include the end.
  const end = Math.min(to + SECOND, MAX_TIME)
  return { from: new Date(Math.max(from, end - MAX_WINDOW_MS)).toISOString(), to: new Date(end).toISOString() }
}
