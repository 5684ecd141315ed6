import type { z } from 'zod'
import type { ServiceAccount } from '../../contract/wearables/oauth-setting.ts'
import type { SeriesName } from '../../contract/wearables/series.ts'
import type { SummaryName } from '../../contract/wearables/summaries.ts'
import type { Failure } from '../../platform/outbound/outcome.ts'
import type { TokenRules } from './rules-oauth.ts'

/**
 * A wearable cloud that Assay reads. Every verb is optional: a cloud without webhooks has no `subscribe` and `receive`, one
 * that only pushes has no `feeds`.
 */
export type Cloud = {
  /** The base of the API. OAUTH_SOURCES overrides it. */
  api_url: string
  /** Regions with servers of their own, by their name in requests. An account is in one of them. */
  regions?: Record<string, Region>
  /** Connect: how its tokens differ from RFC 6749, and whose account they belong to. */
  tokens?: TokenRules
  identify?(call: Call): Promise<string | null>
  /** Connect: what an account needs afterwards, such as subscriptions of its own. It is checked daily. */
  enroll?(call: Call, enrollment: Enrollment): Promise<void>
  /** Subscribe: creates, renews and deletes the notifications of the application. */
  subscribe?(call: Call, subscription: Subscription): Promise<void>
  /** The operator registers the callback URL at the cloud, which has no API for it. */
  registersByHand?: boolean
  /** Receive: verifies a notification, and says whose data changed. Undefined refuses it. */
  receive?(request: IncomingRequest, client: ReceivingClient, call: Call): MaybePromise<Reception | undefined>
  /** Pull: what it has, by name. */
  feeds?: Record<string, Feed>
  /** The error in a response with status 200. */
  faultIn?(response: unknown): { fault: Fault; detail: string } | undefined
  /** Disconnect: ends the access in the cloud's own form. `call` has the token of the user. */
  disconnect?(call: Call, ending: Ending): Promise<void>
}

type MaybePromise<T> = T | Promise<T>

/** The servers of a region, and its name for users. */
export type Region = { name: string; authorize_url: string; token_url: string; api_url: string }

export type Callback = { callback_url: string; verification_token: string }

export type Enrollment = Callback & { now: string; granted(scope: string): boolean }

export type Ending = {
  tokens: { access_token: string; refresh_token: string | null }
  account: string | null
  client: ClientCredentials
  now: string
}

/** Sends a request to the API of the cloud and checks the shape of the response. Throws a cloud error. */
export type Call = {
  <S extends z.ZodType>(request: CloudRequest, shape: S): Promise<z.output<S>>
  /** Called for each record of a response. One with a fault is left out. */
  note(record: NotedRecord): void
}

export type NotedRecord = { kind: string; record: unknown; fault?: RecordFault | undefined }

/** Why a record was left out: a field is missing, has another type or form, or a value that Assay does not store. */
export type RecordFault = { reason: 'missing' | 'invalid' | 'implausible'; field: string | null }

export type CloudRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  query?: Record<string, string | undefined>
  headers?: Record<string, string>
  json?: unknown
  form?: Record<string, string>
}

export type Window = { from: string; to: string }

/** Data that is read and stored together. */
export type Feed = {
  /** The resources of Assay that it fills, by their names in events. */
  resources: string[]
  /** The scopes that it needs. */
  scopes: string[]
  /** How far back the cloud has data. */
  maxDays?: number
  /** The longest window of one request. */
  windowDays: number
  /** Without a notification, it is read at this interval. */
  pollMs: number
  /** Each read repeats the last days, because the cloud changes them later. */
  trailingDays: number
  pull(call: Call, window: Window, context: PullContext): AsyncIterable<Records>
  /** The window of a changed object, `deleted`, or `unreadable` if its record has another shape. */
  windowOf?(call: Call, change: Change): Promise<Window | 'deleted' | 'unreadable'>
  /** The summary that ends with a deleted object, and the series that were measured in its period. */
  deletion?(change: Change): Omit<DeletedObject, 'at'> | undefined
}

export type PullContext = {
  now: string
  stage: 'daily' | 'historical'
  granted(scope: string): boolean
  /** The last read of the latest data. Sources that can tell what changed since then find late corrections too. */
  changedSince: string | undefined
  /** The profile of the last pull, as `Records` had it. */
  lastProfile(): Promise<Record<string, unknown> | undefined>
  /** Where notifications about the account go. */
  callback(): Promise<Callback>
}

/** One page in the shapes of `pulledSummaries` and of pushed samples. */
export type Records = {
  summaries?: { resource: SummaryName; items: ({ id?: string } & Record<string, unknown>)[] }[]
  samples?: { name: SeriesName; items: unknown[] }[]
  /** Streams of workouts in this page, by the ID of the workout. */
  streams?: { workout: string; time: number[]; heartrate: number[] }[]
  /** Series that only sessions of this resource contain. Those of an earlier version of a session are deleted. */
  sessionSeries?: { resource: SummaryName; series: SeriesName[] }
  /**
   * The page has everything of these kinds in a period, and others of the source are deleted: samples of series, or of some of
   * their types, daily summaries, and sessions within the period.
   */
  complete?: {
    series?: SeriesName[]
    types?: Partial<Record<SeriesName, string[]>>
    days?: SummaryName[]
    sessions?: SummaryName[]
    window: Window
  }
  deleted?: DeletedObject[]
}

export type DeletedObject = { resource: SummaryName; id: string; at: string; series: SeriesName[] }

/** An object that changed, as a notification names it. If the notification names a period instead, the period is read again. */
export type Change = { kind: string; object_id: string; deleted: boolean; at: string; window?: Window | undefined }

export type Subscription = Callback & { client: ClientCredentials; wanted: boolean; now: string }
export type ClientCredentials = { client_id: string; client_secret: string; service_account?: ServiceAccount | undefined }

export type IncomingRequest = {
  method: string
  query: Record<string, string | undefined>
  headers: Record<string, string | undefined>
  body: Buffer
}
export type ReceivingClient = ClientCredentials & { verification_token: string; api_url: string; now: string }

/** The response to a notification, and what to store before it is sent: changes, and the accounts whose access the user ended. */
export type Reception = {
  status?: 200 | 201 | 204
  body?: object
  changes: ({ account: string; feed: string } & Change)[]
  ended?: string[]
}

/**
 * `unauthorized` and `forbidden` need the user; `not_found` is about one object; `rate_limited` and `unavailable` pass;
 * `malformed` and `refused` mean that the cloud and the adapter do not agree.
 */
export type Fault = 'unauthorized' | 'forbidden' | 'not_found' | 'rate_limited' | 'unavailable' | 'malformed' | 'refused'

type CloudError = Error & { fault: Fault; waitMs: number | null }

export const cloudError = (fault: Fault, detail: string, waitMs: number | null = null): CloudError =>
  Object.assign(new Error(`The source ${faults[fault]} (${detail})`), { fault, waitMs })

const faults: Record<Fault, string> = {
  unauthorized: 'no longer accepts the access token',
  forbidden: 'refuses access to the data',
  not_found: 'does not have the object',
  rate_limited: 'limits requests',
  unavailable: 'is unavailable',
  malformed: 'sent an invalid response',
  refused: 'refused the request',
}

export const isCloudError = (error: unknown): error is CloudError => error instanceof Error && 'fault' in error

/** The fault of a response other than 2xx. */
export function faultOf(status: number | null, error: Failure | null): Fault {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  if (status === 429) return 'rate_limited'
  if (status === null || status >= 500) return error === 'forbidden_address' || error === 'url_refused' ? 'refused' : 'unavailable'
  return status >= 400 ? 'refused' : 'malformed'
}
