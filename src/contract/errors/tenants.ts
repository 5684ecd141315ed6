import { errors } from './kinds.ts'

export const organizationErrors = errors({
  API_KEY_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'No team API key that the management key has access to has this ID, or the key is revoked.',
    remedy: 'List the keys to find the ID.',
  },
  AUDIT_BREAK_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'No chain of the organization and its teams has an open break at this position.',
    remedy: 'Get the open breaks with GET /v1/org/{org_id}/audit_log/verification.',
  },
  TOO_MANY_API_KEYS: {
    kind: 'refused',
    meaning: 'The team has reached the limit of API keys.',
    remedy: 'Revoke keys that are no longer used.',
  },
  TOO_MANY_MANAGEMENT_KEYS: {
    kind: 'refused',
    meaning: 'The organization has reached the limit of management keys.',
    remedy: 'Revoke keys that are no longer used.',
  },
  COMPANY_NAME_REQUIRED: {
    kind: 'refused',
    meaning: 'brand_information would have no company_name.',
    remedy: 'Send brand_information.company_name.',
  },
  EXPIRY_IN_THE_PAST: {
    kind: 'refused',
    meaning: 'The expires_at of a new key is in the past.',
    remedy: 'Send a later expires_at, or omit it for a key that does not expire.',
  },
  INTEGRATION_TEAM_ID_TAKEN: {
    kind: 'conflict',
    meaning: 'Another team has this integration_team_id. The response names that team in team_id if your key has access to it.',
    remedy: 'Choose another integration_team_id.',
  },
  LAST_ORG_KEY: {
    kind: 'refused',
    meaning: 'The last Org Management Key of an organization cannot be revoked.',
    remedy: 'Create another Org Management Key first.',
  },
  MANAGEMENT_KEY_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The organization has no management key with this ID.',
    remedy: 'List the management keys to find their IDs.',
  },
  ORG_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The organization does not exist, or your key has no access to it.',
    remedy: 'Use the org_id that was shown with the key.',
  },
  TEAM_BINDINGS_NOT_ALLOWED: {
    kind: 'refused',
    meaning: 'The role does not take team_role_bindings.',
    remedy: 'Omit team_role_bindings, or use the role team_admin.',
  },
  TEAM_BINDINGS_REQUIRED: {
    kind: 'refused',
    meaning: 'The role team_admin needs at least one team.',
    remedy: 'Send team_role_bindings with at least one team_id.',
  },
  TEAM_ID_TAKEN: {
    kind: 'conflict',
    meaning: 'A team has, or once had, this ID.',
    remedy: 'Omit `id`, and Assay generates one.',
  },
  TEAM_KEY_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'Your teams have no live API key with this ID.',
    remedy: 'List the team API keys to find their IDs.',
  },
  TEAM_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team does not exist, or your key has no access to it.',
    remedy: 'List the teams to find their IDs.',
  },
  UNKNOWN_TEAM: {
    kind: 'refused',
    meaning: 'team_role_bindings or team_id_allowlist names a team outside the organization.',
    remedy: 'Send only teams of this organization.',
  },
  WRONG_DEPLOYMENT: {
    kind: 'refused',
    meaning: 'The request is for another environment or region than this deployment.',
    remedy: 'Call the other deployment, or send the environment and region of this one.',
  },
})

export const userErrors = errors({
  CLIENT_USER_ID_TAKEN: {
    kind: 'conflict',
    meaning: 'Another user has this client_user_id. A patch and an undone deletion return this error.',
    remedy: 'Patch or delete the other user first.',
  },
  INSURANCE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The user has no such insurance.',
    remedy: 'Record one with POST /v2/user/{user_id}/insurance.',
  },
  INVALID_REQUEST: {
    kind: 'refused',
    meaning: 'A user with this client_user_id already exists. `detail` includes its user_id and created_on.',
    remedy: 'Use the existing user.',
  },
  NO_DELETION_TO_UNDO: {
    kind: 'not_found',
    meaning: 'No user with this ID is scheduled for deletion.',
    remedy: 'Undo a deletion within 7 days; after that the user is erased.',
  },
  PERSONAL_CLIENT_USER_ID: {
    kind: 'refused',
    meaning: 'The client_user_id looks like personal data, such as an email address. `detail` is text, and error_type is next to it.',
    remedy: 'Send an identifier of your own, such as a UUID.',
  },
  USER_INFO_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The user has no recorded demographics.',
    remedy: 'Record them with PATCH /v2/user/{user_id}/info.',
  },
  USER_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no user with this ID.',
    remedy: 'Check the user_id and the team of the key.',
  },
  USER_NOT_ERASED: {
    kind: 'conflict',
    meaning: 'The user exists, is scheduled for deletion, or was erased minutes ago, so there is no erasure certificate yet.',
    remedy: 'Delete the user, and ask again 7 days later. If `erase_at` is set, ask again then.',
  },
  USER_SCHEDULED_FOR_DELETION: {
    kind: 'not_found',
    meaning: 'The user is scheduled for deletion.',
    remedy: 'Undo the deletion with POST /v2/user/undo_delete within 7 days.',
  },
})

export const consoleErrors = errors({
  CODE_REQUIRED: {
    kind: 'unauthenticated',
    meaning: 'The sign-in has an email and a password, but no code.',
    remedy: 'Send the current code of the authenticator app, or a recovery code, as `code`.',
  },
  INVALID_SETUP: {
    kind: 'refused',
    meaning: 'The setup does not belong to the invitation.',
    remedy: 'Accept the invitation again, and send the setup of that response.',
  },
  INVITATION_OVER: {
    kind: 'not_found',
    meaning: 'The invitation was used, revoked or replaced, or its 7 days have passed.',
    remedy: 'Ask an administrator for a new invitation.',
  },
  INVITE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The organization has no such pending invitation.',
    remedy: 'List the invitations to find their IDs.',
  },
  MISSING_SESSION: {
    kind: 'unauthenticated',
    meaning: 'The request has no console session.',
    remedy: 'Sign in with POST /console/session.',
  },
  NOT_A_PERSON: {
    kind: 'refused',
    meaning: 'The session was started with a key, which has no password and no second factor.',
    remedy: 'Sign in with your email.',
  },
  NOT_FROM_CONSOLE: {
    kind: 'forbidden',
    meaning: 'A console session came without x-assay-console: 1, or from another origin.',
    remedy: 'Use a key in programs. Behind a proxy, set PUBLIC_URL to the address in the browser.',
  },
  PERSON_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The organization has no member with this ID.',
    remedy: 'List the members to find their IDs.',
  },
  REVEAL_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'Your role sees only masked personal data.',
    remedy: 'Omit x-assay-reveal, or ask for a role that may reveal personal data.',
  },
  REVEAL_REQUIRED: {
    kind: 'forbidden',
    meaning: 'The document contains personal data and cannot be masked.',
    remedy: 'Send the reason in the header x-assay-reveal.',
  },
  ROLE_REQUIRED: {
    kind: 'forbidden',
    meaning: 'Your role does not include the capability that this request needs.',
    remedy: 'Ask an administrator of the organization.',
  },
  SESSION_ENDED: {
    kind: 'unauthenticated',
    meaning: 'The console session expired or was signed out, or its key or member was removed.',
    remedy: 'Sign in again.',
  },
  SESSION_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'A session that was started with a team API key cannot call management endpoints.',
    remedy: 'Sign in with a management key or your email.',
  },
  SIGN_IN_REFUSED: {
    kind: 'unauthenticated',
    meaning: 'The email, the password or the code is wrong, or the code was already used. The response does not say which.',
    remedy: 'Check all three, and use the current code.',
  },
  TEAM_REQUIRED: {
    kind: 'refused',
    meaning: 'A console session called a data endpoint without a team.',
    remedy: 'Send the team in x-assay-team. GET /console/session lists the teams.',
  },
  TOO_MANY_ATTEMPTS: {
    kind: 'too_many',
    meaning:
      'Too many notifications from one network had an unknown URL or an invalid signature, too many callbacks of single sign-on failed, or a link was used too often.',
    remedy: 'Check the URL, the secret or the signature. Wait 15 minutes.',
  },
  TOO_MANY_SIGN_INS: {
    kind: 'too_many',
    meaning: 'Too many sign-in attempts failed.',
    remedy: 'Wait 15 minutes.',
  },
  WEAK_PASSWORD: {
    kind: 'refused',
    meaning: 'The password is too short, too common or too close to the email.',
    remedy: 'Use a long passphrase.',
  },
  WRONG_CODE: {
    kind: 'refused',
    meaning: 'The code does not match the second factor that is being set up.',
    remedy: 'Enter the code that the authenticator app shows now.',
  },
})
