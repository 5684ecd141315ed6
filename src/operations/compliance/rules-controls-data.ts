import type { Control } from './rules-controls.ts'

/** Controls of stored data and of records about it. */
export const dataControls = {
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
    feature:
      'You can replace the keys of a deployment, of teams and of users while it runs, and keep the first in a key management service.',
    tests: {
      'cli/rotate-data': [
        'assay keys rotate-data > replaces the key of a user, and everything stays readable, also after the earlier key is gone',
      ],
      'cli/rotation-kills': ['assay keys %s continues after kill -9 in the middle, and everything is readable'],
      'cli/rotation': ['assay keys rotate-encryption > replaces ENCRYPTION_KEY while the service runs'],
      'attacks/rotation': ['a root secret that was replaced forges no audit row'],
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
        'a change of an old row alerts without a verification by an operator, also in the middle of a long chain',
        'an inserted row %s is never signed',
        'a break alerts by event, log, metric and /ready until an operator acknowledges it',
      ],
      'attacks/audit-checkpoints': ['a chain that was truncated and rewritten as a whole does not match the checkpoint file'],
      'cli/audit-owner': ['the audit log belongs to another role, and the service can only append'],
    },
  },
  patientIdentity: {
    title: 'Patient identity',
    feature: 'An order for one child neither uses nor overwrites the demographics, the proxy and the insurance of somebody else.',
    tests: {
      'attacks/minors': [
        'the proxy of one child does not serve a sibling, a twin or an explicit null',
        'an order for a sibling warns, keeps its own proxy and does not overwrite the demographics',
        'the insurance of the user does not pay for an order for somebody else, and that of somebody else not for the user',
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
    feature:
      'Seven days after a deletion, Assay erases the user, destroys their encryption key and certifies it. Epoch keys make copies of the key useless.',
    tests: {
      'api/deletion': [
        'after the grace period > only the audit log mentions the user, and the encrypted data cannot be decrypted',
        'after the grace period > the deletion cannot be undone and the user is unknown',
      ],
      'api/erasure-remains': ['erasing a user leaves anonymous order rows, audit rows and the record of the erasure'],
      'api/samples': ['erases every sample, summary and event with the user'],
      'webhooks/health': ['erasing a user empties their attempts and removes their pending messages, and a strict webhook goes on'],
      'api/erasure': [
        'an erased user has a signed certificate of what was destroyed, when, and which copies survive',
        'the certificate waits for the second pass over the log, and for transactions that were open before the first',
      ],
      'attacks/erasure': [
        'erasure certificates > one that was changed, forged or signed with another key is not valid',
        'epoch keys > a copy of the wrapped key of an erased user is useless once its epoch is destroyed',
      ],
      'attacks/erasure-races': [
        'a reset waits for a report that is being stored, and deletes it',
        'an import that waits for an erasure writes no samples',
      ],
      'cli/rotation-kills': ['a worker killed with kill -9 while it wraps keys with another epoch loses nothing'],
    },
  },
  retention: {
    title: 'Retention of events',
    feature: 'Events and their webhook messages expire after a set number of days.',
    tests: {
      'webhooks/retention': ['deletes events after EVENT_RETENTION_DAYS, with their payloads'],
      'webhooks/expiry': ['messages past retention expire, and the chain goes on after them'],
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
        'without the key > a root that someone else made is refused',
        'without the key > a file of the earlier format with a recomputed hash is refused',
        'without the key > a chunk that is changed, moved, repeated or left out is refused',
        'with the key, but with text that would run as SQL > a row of a table that is not listed, and one that is not an object, are refused',
      ],
    },
  },
} as const satisfies Record<string, Control>
