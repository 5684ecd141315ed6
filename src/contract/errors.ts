/** Why a request fails, and thereby its status. */
export type ProblemKind =
  | 'invalid'
  | 'refused'
  | 'not_found'
  | 'wrong_method'
  | 'unauthenticated'
  | 'forbidden'
  | 'conflict'
  | 'too_large'
  | 'unsupported'
  | 'failed'
  | 'unavailable'

export const statusOf: Record<ProblemKind, number> = {
  invalid: 422,
  refused: 400,
  not_found: 404,
  wrong_method: 405,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  failed: 500,
  unavailable: 503,
}

type ErrorType = { kind: ProblemKind; meaning: string }

/** Every `error_type`: stable, one for each rule. The message of an answer says more. */
export const errorTypes = {
  API_KEY_EXPIRED: { kind: 'unauthenticated', meaning: 'The team API key has passed its expires_at.' },
  BAD_REQUEST: { kind: 'refused', meaning: 'The request is not well formed HTTP.' },
  BAD_URL: { kind: 'refused', meaning: 'The address is not well formed, or a part of it is too long.' },
  BODY_TOO_LARGE: { kind: 'too_large', meaning: 'The body is larger than the route takes.' },
  CLIENT_USER_ID_TAKEN: { kind: 'conflict', meaning: 'Another user has the client_user_id (on patch and on undo).' },
  CLOCK_IS_MOVING: { kind: 'conflict', meaning: "Another move of the team's clock took longer than 30 seconds; send it again." },
  CLOCK_MOVES_FORWARD: { kind: 'refused', meaning: 'The sandbox clock was asked to go back.' },
  CLOSED_BETA: { kind: 'forbidden', meaning: 'The route is in closed beta and the team is not enabled for it.' },
  COMPANY_NAME_REQUIRED: { kind: 'refused', meaning: 'brand_information would be left without a company_name.' },
  DATABASE_UNAVAILABLE: { kind: 'unavailable', meaning: 'The database cannot be reached; send the request again.' },
  EXPIRY_IN_THE_PAST: { kind: 'refused', meaning: 'A key was to be made that has expired already.' },
  IDEMPOTENCY_IN_FLIGHT: {
    kind: 'conflict',
    meaning: 'A request with the same X-Idempotency-Key is still being executed after 10 seconds; send it again.',
  },
  IDEMPOTENCY_KEY_REUSED: { kind: 'conflict', meaning: 'The X-Idempotency-Key was used with another request.' },
  INSURANCE_NOT_FOUND: { kind: 'not_found', meaning: 'No such insurance is recorded for the user.' },
  INTEGRATION_TEAM_ID_TAKEN: { kind: 'conflict', meaning: 'Another team has the integration_team_id; its team_id stands beside detail.' },
  INTERNAL_ERROR: { kind: 'failed', meaning: 'A failure of ours; it is logged under the X-Request-Id.' },
  INVALID_ACCESS_TOKEN: { kind: 'unauthenticated', meaning: 'The access token is unknown or has ended.' },
  INVALID_API_KEY: { kind: 'unauthenticated', meaning: 'The team API key is unknown or was revoked.' },
  INVALID_MANAGEMENT_KEY: { kind: 'unauthenticated', meaning: 'The management key is unknown or was revoked.' },
  INVALID_REQUEST: { kind: 'refused', meaning: 'The client_user_id exists; user_id and created_on of that user are in detail.' },
  LAST_ORG_KEY: { kind: 'refused', meaning: 'The last Org Management Key cannot be revoked.' },
  MANAGEMENT_KEY_NOT_ALLOWED: { kind: 'unauthenticated', meaning: 'A management key was sent to a route that takes a team API key.' },
  MANAGEMENT_KEY_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such management key in the organisation.' },
  MISSING_API_KEY: { kind: 'unauthenticated', meaning: 'No team credential was sent.' },
  MISSING_MANAGEMENT_KEY: { kind: 'unauthenticated', meaning: 'No management key was sent.' },
  NO_DELETION_TO_UNDO: { kind: 'not_found', meaning: 'No user with that id awaits deletion.' },
  NOT_READY: { kind: 'unavailable', meaning: 'The database does not answer (from /ready).' },
  NOTHING_TO_PATCH: { kind: 'refused', meaning: 'A patch without a field.' },
  ORG_KEY_REQUIRED: { kind: 'forbidden', meaning: 'A Team Management Key cannot reach the organisation.' },
  ORG_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such organisation that the key can reach.' },
  PERSONAL_CLIENT_USER_ID: {
    kind: 'refused',
    meaning: 'The client_user_id looks like personal data; detail is text, error_type stands beside it.',
  },
  LAB_ACCOUNT_INACTIVE: { kind: 'refused', meaning: 'The lab account is not active.' },
  LAB_ACCOUNT_OF_ANOTHER_LAB: { kind: 'refused', meaning: 'The lab account belongs to another lab than the tests or markers.' },
  LAB_TEST_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such lab test in the catalogue or of the team.' },
  MARKER_NOT_A_LA_CARTE: { kind: 'refused', meaning: 'add_on names a marker that the lab does only as a part of a lab test.' },
  MARKER_NOT_FOUND: { kind: 'not_found', meaning: 'The lab has no marker with that provider_id.' },
  MARKER_NOT_ORDERABLE: { kind: 'refused', meaning: 'A marker that cannot be ordered any more was named.' },
  MARKERS_NAMED_TWICE: { kind: 'refused', meaning: 'Markers were named by marker_ids and by provider_ids; one of the two is needed.' },
  MARKERS_REQUIRED: { kind: 'refused', meaning: 'Markers were named neither by marker_ids nor by provider_ids.' },
  METHOD_NOT_OFFERED: { kind: 'refused', meaning: 'The lab does not collect samples by that method.' },
  NO_COMMON_SAMPLE_TYPE: { kind: 'refused', meaning: 'No one sample serves all of the markers.' },
  ORDER_SET_EMPTY: { kind: 'refused', meaning: 'An order set names neither lab_test_ids nor add_on.' },
  PLAN_REQUIRED: { kind: 'forbidden', meaning: 'The organisation is not on the plan that the route needs.' },
  READ_ONLY_KEY: { kind: 'forbidden', meaning: 'A read-only key was used for a change.' },
  TEAM_BINDINGS_NOT_ALLOWED: { kind: 'refused', meaning: 'An org_admin key was to be bound to teams.' },
  TEAM_BINDINGS_REQUIRED: { kind: 'refused', meaning: 'A team_admin key was to be bound to no team.' },
  TEAM_ID_TAKEN: { kind: 'conflict', meaning: 'A team has the id that was given.' },
  TEAM_KEY_NOT_ALLOWED: { kind: 'unauthenticated', meaning: 'A team credential was sent to a route that takes a management key.' },
  TEAM_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such team that the key can reach.' },
  UNKNOWN_METHOD: { kind: 'wrong_method', meaning: 'The address exists, but not for this method; the Allow header lists those it takes.' },
  UNKNOWN_PATH: { kind: 'not_found', meaning: 'There is nothing at the address.' },
  UNKNOWN_TEAM: { kind: 'refused', meaning: 'team_role_bindings names a team that is not in the organisation.' },
  UNSUPPORTED_CONTENT_TYPE: { kind: 'unsupported', meaning: 'The body is not application/json.' },
  USER_INFO_NOT_FOUND: { kind: 'not_found', meaning: 'No demographics are recorded for the user.' },
  USER_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such user in the team.' },
  USER_SCHEDULED_FOR_DELETION: { kind: 'not_found', meaning: 'The user awaits its erasure and can still be restored.' },
  WRONG_DEPLOYMENT: {
    kind: 'refused',
    meaning: 'The request names another environment or region; the message says which deployment this is.',
  },
  SEVERAL_LABS: { kind: 'refused', meaning: 'Tests or markers of more than one lab were named together.' },
  SHARED_LAB_TEST: { kind: 'refused', meaning: 'A lab test of the catalogue, which all teams share, was to be changed.' },
  UNKNOWN_LAB: { kind: 'refused', meaning: 'lab_slug names no lab of the catalogue.' },
  UNKNOWN_LAB_ACCOUNT: { kind: 'refused', meaning: 'lab_account_id names no lab account that the team may use.' },
  UNKNOWN_LAB_TEST: { kind: 'refused', meaning: 'lab_test_ids names a lab test that is neither in the catalogue nor of the team.' },
  UNKNOWN_MARKER: { kind: 'refused', meaning: 'marker_ids or provider_ids names a marker that does not exist, or not at that lab.' },
  WRONG_DEPLOYMENT_KEY: { kind: 'unauthenticated', meaning: 'The key belongs to another deployment.' },
} as const satisfies Record<string, ErrorType>

export type ErrorName = keyof typeof errorTypes
