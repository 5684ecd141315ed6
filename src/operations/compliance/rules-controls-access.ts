import type { Control } from './rules-controls.ts'

/** Controls of who can read and change what. */
export const accessControls = {
  isolation: {
    title: 'Team isolation',
    feature: 'A caller gets the same response for an ID of another team as for an unknown ID.',
    tests: {
      'api/isolation': ['%s treats a foreign ID like an unknown one', 'an idempotency key is scoped to its team'],
      'attacks/owasp': ['API1 broken object level authorization: the key of another team neither reads nor changes a patient or an order'],
      'db/team-keys': ['every key of a team’s table begins with the team'],
    },
  },
  credentials: {
    title: 'Keys and tokens',
    feature: 'Every endpoint with data requires a key or a token, which Assay stores as a hash and looks up for every request.',
    tests: {
      'api/authentication': ['%s requires a credential'],
      'api/keys': ['a team API key > is stored as a hash', 'a team API key > works until it expires'],
      'attacks/owasp': ['API2 broken authentication: an altered, unsigned or expired token is rejected'],
    },
  },
  signIn: {
    title: 'Sign-in of people',
    feature: 'Each person has an account of their own and signs in with a strong password and a one-time code, with limited attempts.',
    tests: {
      'people/people': [
        'sign-in > requires a code, whether or not the password is right',
        'sign-in > returns the same error for a wrong email, password, code or organization',
      ],
      'attacks/sign-in': ['guessing the password of a known user gets ten attempts and does not lock the user out elsewhere'],
      'attacks/passwords': ['a guesser who tries %s does not get in, because it cannot be chosen'],
      'attacks/invitations': ['an administrator who opens the link first does not learn the second factor of the person'],
    },
  },
  singleSignOn: {
    title: 'Single sign-on',
    feature: 'Assay accepts a sign-in of your OpenID Connect provider only in the browser that started it and with a valid ID token.',
    tests: {
      'attacks/sso': [
        'a forged ID token opens no session > %s',
        'a callback works only in the browser that started > not in a browser that started another sign-in',
        'a person at the provider cannot take over an account > with an email that the provider did not verify',
      ],
    },
  },
  sessions: {
    title: 'Automatic logoff',
    feature: 'A console session ends when it is idle and after a fixed time, and other sites cannot use it.',
    tests: {
      'people/sessions': [
        'session expiry > ends a session after 30 idle minutes and extends it on use',
        'session expiry > ends a session after 12 hours, even when it is in use',
        'cross-site requests > rejects a request %s',
      ],
    },
  },
  roles: {
    title: 'Roles and kinds of credentials',
    feature: 'Each role and each kind of credential can call only its own endpoints.',
    tests: {
      'people/roles': ['%s > has exactly the capabilities in the table', '%s bound to a team cannot access other teams'],
      'api/keys': ['a team API key > with read_only can read and search but not write'],
      'attacks/owasp': ['API5 broken function level authorization: no credential calls the functions of another kind'],
    },
  },
  declaredFields: {
    title: 'Declared fields',
    feature: 'A request changes and a response contains only the fields that the contract declares.',
    tests: {
      'attacks/owasp': ['API3 broken object property level authorization: a request cannot set the access or the team of a key'],
      'api/hostile': ['a request body > may contain unknown fields, which are ignored'],
      'attacks/webhook-urls': ['a person with the role %s sees the query of a webhook URL: %s'],
    },
  },
  accessRemoval: {
    title: 'Removal of access',
    feature:
      'A removed person and a changed role take effect with the next request. A revoked team API key takes effect within one second.',
    tests: {
      'api/keys': [
        'a team API key > works at once on every replica, and stops after a second on those that no wake-up reaches',
        'a team API key > is read from the database by requests that grant access, even if it was valid a moment ago',
      ],
      'people/people': [
        'removal and role changes > ends the sessions of a removed person and rejects a new sign-in',
        'removal and role changes > applies a new role to open sessions at once',
      ],
      'people/sso': ['single sign-on > takes the access of a person who left all groups, also from open sessions'],
      'attacks/tokens': [
        'a thief who keeps a token > loses it when the team API key that created it is revoked',
        'a thief who keeps a token > loses it when the person who created it in the console loses their role',
      ],
    },
  },
  emergencyAccess: {
    title: 'Emergency access',
    feature: 'The operator can create a key or an account with the CLI, and a person without their authenticator uses a recovery code.',
    tests: {
      'cli/people': ['invites the first person, then lists and removes them'],
      'cli/operator': ['keys > creates a team key, lists it by its prefix and revokes it immediately'],
      'people/people': ['sign-in > accepts each recovery code once'],
    },
  },
  masking: {
    title: 'Masking',
    feature: 'The console masks personal data until an authorized person gives a reason, which the audit log records.',
    tests: {
      'people/masking': [
        'masking in the console > masks personal data in every response, but not for API keys',
        'revealing > returns unmasked data and records the encrypted reason in the audit log',
        'revealing > refuses a reveal by %s',
      ],
    },
  },
} as const satisfies Record<string, Control>
