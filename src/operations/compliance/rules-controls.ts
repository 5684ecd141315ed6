/** A feature that protects data, in one sentence, and the tests that prove it: the file in test/ and the titles in it. */
export type Control = { title: string; feature: string; tests: Record<string, readonly string[]> }

/** Titles are those in the source, with the titles around them: `describe > test`. */
export const controls = {
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
    feature: 'A revoked key, a removed person and a changed role take effect with the next request.',
    tests: {
      'api/keys': ['a team API key > works at once on every replica, and stops at once when it is revoked'],
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
  minimization: {
    title: 'No personal data in IDs and logs',
    feature: 'Assay rejects user IDs that look personal, and writes no personal data to logs and errors.',
    tests: {
      'api/users': ['client_user_id > rejects %s as personal data with a reason'],
      'api/hostile-sweep': ['almost valid requests > to %s never cause a 5xx or echo personal data'],
      'api/records': ['people search > writes no search words to the log'],
      'db/embedded': ['writes no query values to the server log'],
    },
  },
  encryption: {
    title: 'Encryption at rest',
    feature: 'Assay encrypts personal data, credentials and webhook URLs with AES-256-GCM before it stores them.',
    tests: {
      'rules/sealing': ['encrypted document > contains no plain text', 'encryption keys > wraps each key with its parent only'],
      'people/people': ['sign-in > stores no credentials or personal data in plain text'],
      'attacks/webhook-urls': ['somebody with a copy of the database finds no webhook URL in it, before and after a delivery'],
    },
  },
  encryptionKeys: {
    title: 'Encryption keys',
    feature: 'You can replace the key of a deployment while it runs, and keep it in a key management service.',
    tests: {
      'cli/rotation': ['assay keys rotate-encryption > replaces ENCRYPTION_KEY while the service runs'],
      'cli/key-management': ['the transit engine of Vault > encrypts the root secret instead of ENCRYPTION_KEY'],
    },
  },
  integrity: {
    title: 'Integrity of health data',
    feature: 'Encrypted data that was changed or moved cannot be decrypted, and results are never overwritten.',
    tests: {
      'rules/sealing': ['encrypted document > does not decrypt after any byte is changed or cut off'],
      'api/records': ['cannot decrypt demographics that were moved to another user'],
      'api/results': ['results > cannot be changed in the database, and neither can order events'],
    },
  },
  auditLog: {
    title: 'Audit log',
    feature:
      'Each authenticated request writes an audit row with the caller, the action and the people concerned, together with its change.',
    tests: {
      'api/audit': [
        'audit rows > record one row per request, including reads, searches, changes and rejections',
        'a change and its audit row > roll back together',
      ],
      'people/people': [
        'records the person as actor in the audit log and as creator of keys',
        'sign-in > audits a failed sign-in with the person ID but not the email',
      ],
    },
  },
  auditProtection: {
    title: 'Protection of the audit log',
    feature: 'Audit rows are authenticated and chained, so that a changed, inserted or deleted row is found and alerts the operator.',
    tests: {
      'attacks/audit': [
        'a changed row is found, and the chain goes on',
        'an inserted row %s is never signed',
        'a break alerts by event, metric and /ready until an operator acknowledges it',
      ],
      'attacks/audit-checkpoints': ['a chain that was truncated and rewritten as a whole does not match the checkpoint file'],
      'cli/audit-owner': ['the audit log belongs to another role, and the service can only append'],
    },
  },
  transport: {
    title: 'Encryption in transit',
    feature: 'In production, outbound requests use TLS with a verified certificate, and browsers are told to use only https.',
    tests: {
      'webhooks/send': ['TLS > rejects a certificate that %s', 'TLS > ignores NODE_TLS_REJECT_UNAUTHORIZED'],
      'rules/webhook-addresses': ['networks the operator opens > production requires https'],
      'attacks/page-headers': ['a page that %s links to learns no URL, and nobody on the network can ask for it without TLS'],
    },
  },
  signatures: {
    title: 'Signed webhooks',
    feature: 'Every webhook message has a signature with its ID and time, so that a receiver detects a changed or repeated message.',
    tests: {
      'webhooks/delivery': ['delivers every status change of an order, signed and in order'],
      'rules/webhook-signatures': ['%s library > rejects a changed body, a changed ID and a timestamp outside the tolerance'],
    },
  },
  outbound: {
    title: 'Outbound requests',
    feature: 'Webhooks, brokers and sources cannot lead to private or metadata addresses, not even by DNS rebinding or a redirect.',
    tests: {
      'attacks/owasp': ['API7 server side request forgery: no webhook and no broker has an internal address'],
      'webhooks/send': [
        'addresses > does not connect to a host that resolves to %s',
        'addresses > resolves a host once per connection and connects to the checked address',
        'receiver behavior > reports a redirect to a metadata address without following it',
      ],
      'api/oauth': ['OAuth connections > does not contact a private address in production'],
    },
  },
  limits: {
    title: 'Limits and fair shares',
    feature: 'Bodies, pages, connections and the share of a team are limited, so that one caller cannot stop the others.',
    tests: {
      'attacks/owasp': ['API4 unrestricted resource consumption: no request gets a page or sends a body of any size'],
      'attacks/bodies': ['a body of %s is refused while it arrives'],
      'attacks/unfinished-requests': ['an address has a limited number of connections %s'],
      'attacks/fair-shares': ['a team whose requests hold every connection they can get does not stop another team'],
      'attacks/docs-search': ['a flood of searches, the first of which build the index, does not hold up a health check'],
    },
  },
  rates: {
    title: 'Fixed rates',
    feature: 'A team or a key can have a fixed rate, which also limits how many orders a script places.',
    tests: {
      'attacks/owasp': ['API6 unrestricted access to sensitive business flows: a script that places orders is held to the rate of its key'],
      'api/rates': ['a team with a fixed rate > is accepted up to its burst, and then at its rate, over all services together'],
    },
  },
  hardening: {
    title: 'Hostile requests',
    feature: 'Malformed requests get an error without internal details, and responses allow no other origin.',
    tests: {
      'attacks/owasp': ['API8 security misconfiguration: no response names the software, allows another origin or contains a stack trace'],
      'api/hostile': ['on a raw socket > %s gets a JSON error'],
    },
  },
  inventory: {
    title: 'Known endpoints',
    feature: 'Assay serves only the endpoints of its contract, and sandbox functions and sandbox keys do not work in production.',
    tests: {
      'attacks/owasp': ['API9 improper inventory management: production serves no sandbox function and no unlisted path'],
      'start/deployment': ['rejects a database of another key, environment or region'],
    },
  },
  thirdParties: {
    title: 'Data from labs and sources',
    feature: 'Assay validates everything that labs and wearable sources send, and a lab sees only its own orders.',
    tests: {
      'attacks/owasp': ['API10 unsafe consumption of APIs: a compromised source connects nobody with a hostile response'],
      'api/partner-api': [
        'unusual reports > with %s are rejected and change nothing',
        'orders the lab may not see > %s returns the same 404 to another lab as for an unknown order',
      ],
      'attacks/link-tokens': ['three browsers that use one link token at the same moment connect one source, and the others get 401'],
    },
  },
  patientIdentity: {
    title: 'Patient identity',
    feature: 'An order for one child neither uses nor overwrites the demographics and the proxy of a sibling.',
    tests: {
      'attacks/minors': [
        'the proxy of one child does not serve a sibling, a twin or an explicit null',
        'an order for a sibling warns, keeps its own proxy and does not overwrite the demographics',
      ],
    },
  },
  rectification: {
    title: 'Corrections',
    feature: 'You can replace the data of a user, and a lab can correct a result, which becomes a new version.',
    tests: {
      'api/records': ['demographics > are replaced as a whole by an update'],
      'api/users': ['updating a user > changes the given fields, clears null ones and returns 204'],
      'api/partner-api': ['treats a second final report as a correction and an early correction as final'],
    },
  },
  portability: {
    title: 'Access and export',
    feature: 'The API returns everything that is stored about a user, and `assay export` writes the data of a team to a file.',
    tests: {
      'api/records': ['demographics > are returned with every field as stored'],
      'cli/transfer': [
        'export writes a private file with a header and overwrites nothing',
        'import into another deployment keeps every ID and encrypts with the keys of the new team',
      ],
    },
  },
  erasure: {
    title: 'Erasure',
    feature: 'Seven days after a deletion, Assay erases the user and destroys their encryption key.',
    tests: {
      'api/deletion': [
        'after the grace period > only the audit log mentions the user, and the encrypted data cannot be decrypted',
        'after the grace period > the deletion cannot be undone and the user is unknown',
      ],
      'api/erasure-remains': ['erasing a user leaves anonymous order rows, audit rows and queue keys'],
      'api/samples': ['erases every sample, summary and event with the user'],
      'webhooks/health': ['erasing a user removes their attempts and pending messages and unblocks the lane'],
    },
  },
  retention: {
    title: 'Retention of events',
    feature: 'Events and their webhook messages expire after a set number of days.',
    tests: {
      'webhooks/health': ['skips pending messages whose event has expired, even while the webhook is disabled'],
      'webhooks/inbox': ['erases messages with their user and after seven days'],
    },
  },
  backups: {
    title: 'Backups',
    feature: 'A backup is encrypted and authenticated, and restores every row with the same keys only.',
    tests: {
      'cli/backup': [
        'writes a private file without patient data that passes the check',
        'restores every row into an empty database, readable with the same keys',
      ],
      'attacks/backups': [
        'without the key > a backup reveals its header only',
        'without the key > a file of the earlier format with a recomputed hash is refused',
        'without the key > a chunk that is changed, moved, repeated or left out is refused',
        'with the key, but with text that would run as SQL > a row of a table that is not listed, and one that is not an object, are refused',
      ],
    },
  },
  availability: {
    title: 'Availability',
    feature: 'Assay restarts failed processes, follows the primary database, and reports its state at `/ready`.',
    tests: {
      'start/processes': ['a killed API process is restarted, and no acknowledged request is lost'],
      'start/ready': ['reports an unavailable database, keeps running and is ready when it returns'],
      'db/failover': ['a standby is refused, and with several hosts the connections follow the primary'],
    },
  },
  processing: {
    title: 'Processing of orders',
    feature: 'A repeated request places an order once, and an order follows only the defined transitions.',
    tests: {
      'api/order-idempotency': ['fifty identical concurrent orders > with one key create one order and return the same response'],
      'api/order-lifecycles': ['allows only defined transitions of a %s order for any sequence of requests'],
      'webhooks/lanes': ['delivers every lane completely and in order despite failures, crashes, pauses and rotations'],
    },
  },
  supplyChain: {
    title: 'Supply chain',
    feature: 'Dependencies have exact versions and hashes, run no install scripts, and are listed in a bill of materials.',
    tests: {
      'attacks/supply-chain': [
        'no dependency has a license that we do not accept, or an install script',
        'every dependency has an exact version, and every installed file a hash',
        'the bill of materials lists every package with its version, license and hash',
      ],
    },
  },
  changes: {
    title: 'Safe upgrades',
    feature: 'An upgrade changes no migration that has run, and waits for processes that it would break.',
    tests: {
      'upgrade/rolling': ['an upgrade changes no migration that has run'],
      'db/migrate': [
        'a migration that would break a running process waits until it has stopped, and then the older version does not start',
      ],
    },
  },
} as const satisfies Record<string, Control>

export type ControlName = keyof typeof controls
