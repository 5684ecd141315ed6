import { errors } from './kinds.ts'

export const requestErrors = errors({
  BAD_REQUEST: {
    kind: 'refused',
    meaning: 'The request is not well-formed HTTP, or its headers are too large.',
    remedy: 'Check the request line and the size of the headers.',
  },
  BAD_URL: {
    kind: 'refused',
    meaning: 'The URL is malformed, or one of its path segments is too long.',
    remedy: 'Percent-encode the path and query.',
  },
  BODY_TOO_LARGE: {
    kind: 'too_large',
    meaning:
      'The body exceeds the limit: 30 MiB for orders, pushed data and lab reports, 1 MiB elsewhere and for sign-in tokens of users. A list may have 200,000 entries. The limits apply after decompression.',
    remedy: 'Split the request into smaller ones.',
  },
  RATE_LIMITED: {
    kind: 'too_many',
    meaning: 'The team or the API key has a fixed request rate, and the request exceeds it.',
    remedy: 'Wait for the seconds in Retry-After. The RateLimit header of each response says how many requests are left.',
  },
  TEAM_OVERLOADED: {
    kind: 'too_many',
    meaning:
      'Several teams are active, and the team has exceeded its share of concurrent requests for too long. The error also occurs when too many of its reads of samples and summaries are pending.',
    remedy: 'Wait for the seconds in Retry-After, then send the request again. Send fewer requests at the same time.',
  },
  TOO_MUCH_IN_FLIGHT: {
    kind: 'too_many',
    meaning: 'Too many bodies of the same credential, or of all credentials together, are still being processed.',
    remedy: 'Wait for the seconds in Retry-After, then send the request again. Send fewer or smaller bodies at the same time.',
  },
  NOTHING_TO_PATCH: {
    kind: 'refused',
    meaning: 'The patch contains no field to change.',
    remedy: 'Send at least one field.',
  },
  ROUTE_NOT_OFFERED: {
    kind: 'not_found',
    meaning: 'Junction has this endpoint, but Assay does not implement it.',
    remedy: 'Follow the alternative named in error_message.',
  },
  UNKNOWN_HOST: {
    kind: 'misdirected',
    meaning:
      'The service listens on a loopback address, and the Host header names neither a loopback address nor the host of PUBLIC_URL. This prevents DNS rebinding.',
    remedy: 'Call the service at localhost, or set `PUBLIC_URL` to the URL that clients use.',
  },
  UNKNOWN_METHOD: {
    kind: 'wrong_method',
    meaning: 'The path exists, but not for this HTTP method.',
    remedy: 'Use one of the methods listed in the `Allow` response header.',
  },
  UNKNOWN_PATH: {
    kind: 'not_found',
    meaning: 'No endpoint has this path, or the endpoint exists only in the sandbox.',
    remedy: 'Check the path against the API reference.',
  },
  UNSUPPORTED_CONTENT_ENCODING: {
    kind: 'unsupported',
    meaning: 'The body is compressed with something other than gzip.',
    remedy: 'Send the body uncompressed or with `Content-Encoding: gzip`.',
  },
  UNSUPPORTED_CONTENT_TYPE: {
    kind: 'unsupported',
    meaning: 'The body is not JSON.',
    remedy: 'Send `Content-Type: application/json`.',
  },
})

export const idempotencyErrors = errors({
  IDEMPOTENCY_IN_FLIGHT: {
    kind: 'conflict',
    meaning: 'Another request with this X-Idempotency-Key is still running after 10 seconds.',
    remedy: 'Retry with the same key after a few seconds.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    kind: 'conflict',
    meaning: 'The X-Idempotency-Key was already used with a different request.',
    remedy: 'Use a new key for each new request.',
  },
})

export const availabilityErrors = errors({
  CONSOLE_NOT_BUILT: {
    kind: 'unavailable',
    meaning: 'The console files are missing from this installation.',
    remedy: 'Start the service with `npm start`, which builds the console.',
  },
  DATABASE_UNAVAILABLE: {
    kind: 'unavailable',
    meaning: 'The database cannot be reached, or a statement took too long.',
    remedy: 'Retry after a few seconds.',
  },
  INTERNAL_ERROR: {
    kind: 'failed',
    meaning: 'The service failed unexpectedly. The failure is logged with the X-Request-Id of the response.',
    remedy: 'Retry. If it happens again, give the X-Request-Id to your operator.',
  },
  KEY_STORE_UNAVAILABLE: {
    kind: 'unavailable',
    meaning: 'The keys of the team are in a key store outside of the database, which cannot be reached or does not open them.',
    remedy: 'Retry after a few seconds. If it happens again, your operator finds the reason in the log.',
  },
  INVALID_METRICS_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The service has a METRICS_TOKEN, and the request did not send it. Only /metrics returns this error.',
    remedy: 'Send it as `Authorization: Bearer TOKEN`.',
  },
  NOT_READY: {
    kind: 'unavailable',
    meaning:
      'The service is starting, or the database does not respond or does not accept writes, for example because its disk is full. Only /ready returns this error.',
    remedy: 'Wait until /ready returns 200.',
  },
})
