import { errors } from './kinds.ts'

export const authenticationErrors = errors({
  API_KEY_EXPIRED: {
    kind: 'unauthenticated',
    meaning: 'The team API key is past its expires_at.',
    remedy: 'Create a new key with the management API.',
  },
  INVALID_ACCESS_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The access token is unknown, expired or revoked.',
    remedy: 'Create a new token. Access tokens are valid for 10 minutes.',
  },
  INVALID_API_KEY: {
    kind: 'unauthenticated',
    meaning: 'The team API key is unknown or revoked.',
    remedy: 'Check the value of x-service-api-key.',
  },
  INVALID_LAB_KEY: {
    kind: 'unauthenticated',
    meaning: 'The lab key is unknown or revoked.',
    remedy: 'Check the value of x-lab-key, or ask the operator for a new key.',
  },
  INVALID_LINK_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The link token is unknown, or its user was deleted.',
    remedy: 'Create a new token with POST /v2/link/token.',
  },
  INVALID_MANAGEMENT_KEY: {
    kind: 'unauthenticated',
    meaning: 'The management key is unknown or revoked.',
    remedy: 'Check the value of X-Management-Key.',
  },
  INVALID_TICKET_SIGNATURE: {
    kind: 'unauthenticated',
    meaning: 'The signature of a request for a ticket is missing, wrong or older than 5 minutes.',
    remedy: 'Sign webhook-id.webhook-timestamp.ticket with the secret of the webhook that received the ticket, or send a key of the team.',
  },
  INVALID_USER_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The sign-in token of the user is unknown or expired.',
    remedy: 'Create a new token with POST /v2/user/{user_id}/sign_in_token. Sign-in tokens are valid for one hour.',
  },
  LAB_KEY_NOT_ALLOWED: {
    kind: 'unauthenticated',
    meaning: 'A lab key was sent to an endpoint that takes a team API key or a management key.',
    remedy: 'Use lab keys only for endpoints under /lab.',
  },
  LINK_TOKEN_CONSUMED: {
    kind: 'unauthenticated',
    meaning: 'The link token has already connected a source.',
    remedy: 'Create a new token for each connection.',
  },
  LINK_TOKEN_EXPIRED: {
    kind: 'unauthenticated',
    meaning: 'The link token is older than one hour.',
    remedy: 'Create a new token with POST /v2/link/token.',
  },
  MANAGEMENT_KEY_NOT_ALLOWED: {
    kind: 'unauthenticated',
    meaning: 'A management key was sent to an endpoint that takes a team API key or a lab key.',
    remedy: 'Send a team API key in x-service-api-key, or a lab key in x-lab-key.',
  },
  MISSING_API_KEY: {
    kind: 'unauthenticated',
    meaning: 'The request has no team credential.',
    remedy: 'Send a team API key in x-service-api-key, or an access token as `Authorization: Bearer`.',
  },
  MISSING_LAB_KEY: {
    kind: 'unauthenticated',
    meaning: 'The request has no lab key.',
    remedy: 'Send the lab key in x-lab-key.',
  },
  MISSING_LINK_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The request has no link token.',
    remedy: 'Send the token in x-vital-link-token or x-service-link-token.',
  },
  MISSING_MANAGEMENT_KEY: {
    kind: 'unauthenticated',
    meaning: 'The request has no management key.',
    remedy: 'Send the management key in X-Management-Key.',
  },
  TEAM_KEY_NOT_ALLOWED: {
    kind: 'unauthenticated',
    meaning: 'A team credential was sent to an endpoint that takes a management key or a lab key.',
    remedy: 'Send a management key in X-Management-Key, or a lab key in x-lab-key.',
  },
  WRONG_DEPLOYMENT_KEY: {
    kind: 'unauthenticated',
    meaning: 'The key belongs to another deployment.',
    remedy: 'Call the deployment named in error_message, or use a key for this one.',
  },
})

export const permissionErrors = errors({
  BETA_NOT_ENABLED: {
    kind: 'refused',
    meaning: 'The team is not enabled for this closed beta.',
    remedy: 'Ask your operator to enable the beta for the team.',
  },
  CLOSED_BETA: {
    kind: 'forbidden',
    meaning: 'The endpoint is in closed beta, and the team is not enabled for it.',
    remedy: 'Ask your operator to enable the beta for the team.',
  },
  MANAGEMENT_KEY_REQUIRED: {
    kind: 'forbidden',
    meaning: 'Only a management key can create an access token. A console session cannot.',
    remedy: 'Send a management key in X-Management-Key.',
  },
  OPERATOR_REQUIRED: {
    kind: 'forbidden',
    meaning: 'Only the organization that operates the deployment can call the endpoint.',
    remedy: 'The operator sets OPERATOR_ORG_ID to the organization.',
  },
  ORG_KEY_REQUIRED: {
    kind: 'forbidden',
    meaning: 'A Team Management Key cannot call an endpoint of the organization, or raise a request rate.',
    remedy: 'Use an Org Management Key.',
  },
  PLAN_REQUIRED: {
    kind: 'forbidden',
    meaning: 'The plan of the organization does not include this endpoint.',
    remedy: 'Ask your operator to change the plan of the organization.',
  },
  READ_ONLY_KEY: {
    kind: 'forbidden',
    meaning: 'A read-only key was used for a change.',
    remedy: 'Use a key without read_only.',
  },
  USER_TOKEN_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'The endpoint does not accept the sign-in token of a user.',
    remedy: 'Call the endpoint from your backend with a team API key.',
  },
})
