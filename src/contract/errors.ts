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
  INVALID_LAB_KEY: { kind: 'unauthenticated', meaning: 'The lab key is unknown or was revoked.' },
  INVALID_MANAGEMENT_KEY: { kind: 'unauthenticated', meaning: 'The management key is unknown or was revoked.' },
  INVALID_REQUEST: { kind: 'refused', meaning: 'The client_user_id exists; user_id and created_on of that user are in detail.' },
  LAST_ORG_KEY: { kind: 'refused', meaning: 'The last Org Management Key cannot be revoked.' },
  MANAGEMENT_KEY_NOT_ALLOWED: {
    kind: 'unauthenticated',
    meaning: 'A management key was sent to a route that takes a team API key or a lab key.',
  },
  MANAGEMENT_KEY_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such management key in the organisation.' },
  MISSING_API_KEY: { kind: 'unauthenticated', meaning: 'No team credential was sent.' },
  MISSING_LAB_KEY: { kind: 'unauthenticated', meaning: 'No lab key was sent.' },
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
  LAB_ACCOUNT_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such lab account in the organisation.' },
  LAB_ACCOUNT_OF_ANOTHER_LAB: { kind: 'refused', meaning: 'The lab account belongs to another lab than the tests or markers.' },
  LAB_KEY_NOT_ALLOWED: { kind: 'unauthenticated', meaning: 'A lab key was sent to a route that takes a team API key or a management key.' },
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
  TEAM_KEY_NOT_ALLOWED: {
    kind: 'unauthenticated',
    meaning: 'A team credential was sent to a route that takes a management key or a lab key.',
  },
  TEAM_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such team that the key can reach.' },
  UNKNOWN_METHOD: { kind: 'wrong_method', meaning: 'The address exists, but not for this method; the Allow header lists those it takes.' },
  UNKNOWN_PATH: { kind: 'not_found', meaning: 'There is nothing at the address.' },
  UNKNOWN_TEAM: { kind: 'refused', meaning: 'team_role_bindings or team_id_allowlist names a team that is not in the organisation.' },
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
  ACTIVATE_BY_PASSED: { kind: 'refused', meaning: 'activate_by of a patch lies in the past.' },
  DRAW_NOT_POSSIBLE: { kind: 'refused', meaning: 'The draw was reported of an order that has no requisition or is past the draw.' },
  KIT_HAS_A_PATIENT: { kind: 'refused', meaning: 'A kit was to be registered that was ordered for a patient.' },
  KIT_NOT_FOUND: { kind: 'not_found', meaning: 'No kit of the team has the sample_id.' },
  KIT_NOT_REGISTRABLE: { kind: 'refused', meaning: 'A kit was to be registered that has come back or ended.' },
  KIT_REGISTERED: { kind: 'conflict', meaning: 'The kit is registered already.' },
  NOT_A_TESTKIT: { kind: 'refused', meaning: 'The lab test is not collected by a kit.' },
  NOT_ON_SITE: { kind: 'refused', meaning: 'The draw was reported of an order that is not collected on site.' },
  ORDER_GOES_ON: { kind: 'refused', meaning: 'An order was to be made anew that can take its results itself.' },
  ORDER_NOT_CANCELLABLE: { kind: 'refused', meaning: 'The window in which the order can be cancelled has closed.' },
  ORDER_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such order in the team.' },
  ORDER_NOT_HELD: { kind: 'refused', meaning: 'An order was to be rescheduled that has gone to the lab or ended.' },
  ORDER_NOT_SCHEDULED: { kind: 'refused', meaning: 'An order was to be rescheduled that was created without activate_by.' },
  DOCUMENT_NOT_AVAILABLE: { kind: 'not_found', meaning: 'The order has no such document, or not yet.' },
  REDRAW_NOT_OFFERED: { kind: 'refused', meaning: 'The lab does no redraws, or the order is one itself.' },
  RESULTS_NOT_AVAILABLE: { kind: 'not_found', meaning: 'The lab has not reported results yet.' },
  STATUS_NOT_REACHABLE: { kind: 'refused', meaning: 'No arrow of the lifecycle leads from where the order stands to that status.' },
  TOO_MANY_TO_RESEND: { kind: 'refused', meaning: 'The window holds more orders than are resent at once.' },
  TOO_MANY_TO_SORT: { kind: 'refused', meaning: 'More orders match than are sorted by name.' },
  TRANSACTION_NOT_FOUND: { kind: 'not_found', meaning: 'There is no such order transaction in the team.' },
  WRONG_DEPLOYMENT_KEY: { kind: 'unauthenticated', meaning: 'The key belongs to another deployment.' },
  BILLING_TYPE_NOT_ALLOWED: { kind: 'refused', meaning: "The lab account may not bill that way in the patient's state." },
  BILLING_TYPE_NOT_SUPPORTED: { kind: 'refused', meaning: 'The lab does not bill that way.' },
  COLLECTION_METHOD_REQUIRED: { kind: 'refused', meaning: 'Markers were named by add_on without saying how the sample is collected.' },
  GUARANTOR_REQUIRED: { kind: 'refused', meaning: 'The patient is insured through somebody else, and nobody is named who pays.' },
  ICD_CODE_INVALID: {
    kind: 'refused',
    meaning: 'An order for commercial insurance has a diagnosis code that is not written as ICD-10-CM has it.',
  },
  ICD_CODES_REQUIRED: { kind: 'refused', meaning: 'An order for commercial insurance names no diagnosis.' },
  INSURANCE_REQUIRED: {
    kind: 'refused',
    meaning: 'An order for commercial insurance names no insurance, and the user has none that is primary.',
  },
  LAB_ACCOUNT_AMBIGUOUS: { kind: 'refused', meaning: 'The team has several active accounts at the lab; lab_account_id says which to use.' },
  LAB_ACCOUNTS_DIFFER: { kind: 'refused', meaning: 'lab_account_id and order_set.lab_account_id name different accounts.' },
  LAB_DOES_NOT_SERVE_STATE: { kind: 'refused', meaning: "The lab does not work in the patient's state." },
  LAB_TEST_NOT_ACTIVE: { kind: 'refused', meaning: 'A lab test was ordered that is archived or waits for approval.' },
  MINORS_NOT_ALLOWED: {
    kind: 'refused',
    meaning: 'The patient is a minor, and the team does not order for minors (minor_ordering_enabled).',
  },
  NO_TESTS_NAMED: { kind: 'refused', meaning: 'An order names no lab test and no marker.' },
  PHYSICIAN_REQUIRED: { kind: 'refused', meaning: "The lab takes orders from the patient's state only with a physician." },
  SEVERAL_METHODS: { kind: 'refused', meaning: 'The tests are collected in different ways; collection_method says which to use.' },
} as const satisfies Record<string, ErrorType>

export type ErrorName = keyof typeof errorTypes
