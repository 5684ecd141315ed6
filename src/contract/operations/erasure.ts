import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

const epochStates = ['active', 'in_escrow', 'destroyed'] as const

const Copy = z
  .object({
    place: Safe.describe('Where copies of the encrypted rows and of the wrapped key can survive.'),
    until: Instant.nullable().describe('When they become useless, as far as Assay knows. Null if that depends on the operator.'),
    note: Safe,
  })
  .meta({ id: 'ErasureCopy' })

const Epoch = z
  .object({
    epoch_id: Id.describe('The key in the key store outside of the database, without which the wrapped key is useless.'),
    state: openEnum(epochStates),
    destroyed_at: Instant.nullable(),
    expected_destruction_at: Instant.nullable().describe('When the schedule destroys it. Null if it is destroyed, or the schedule is off.'),
    protects_copies_since: Instant.nullable().describe(
      'Older copies of the wrapped key do not need the epoch. Null if no such copies can exist because the user was created later.',
    ),
  })
  .meta({ id: 'ErasureEpoch' })

export const ErasureCertificate = z
  .object({
    version: z.literal(1),
    issued_at: Instant,
    environment: Safe,
    region: Safe,
    team_id: Id,
    user_id: Id,
    requested_at: Instant.describe('When the deletion was requested.'),
    erased_at: Instant.describe('When Assay deleted the rows and destroyed the key.'),
    key_ids: z.array(Id).describe('The encryption keys of the user that were destroyed.'),
    wrapped_key_sha256: Safe.describe('The SHA-256 of the wrapped key, by which a surviving copy of it can be recognized.'),
    deleted_rows: z.record(Safe, z.int()).describe('The number of deleted rows by table.'),
    anonymized_orders: z.int().describe('Lab orders that stay without a user, a patient or results.'),
    epoch: Epoch.nullable().describe('Null if the key of the team, not one of a key store, wrapped the key of the user.'),
    copies: z.array(Copy),
  })
  .meta({ id: 'ErasureCertificate' })

const Erasure = z
  .object({
    certificate: ErasureCertificate,
    jws: Safe.describe(
      'The same certificate, signed with Ed25519, as a compact JWS. The public keys are at `/.well-known/jwks.json`. `assay erasure verify` checks it.',
    ),
  })
  .meta({ id: 'Erasure' })

export const erasureEndpoints = {
  getErasure: endpoint({
    auth: 'team',
    tag: 'Users',
    method: 'get',
    path: '/v2/user/{user_id}/erasure',
    summary: 'Get the erasure certificate of a user',
    description:
      'Returns a signed certificate for a user that was erased, which is 7 days after the deletion. It says which keys and rows were destroyed, when, and which copies can survive. It contains no personal data besides the IDs.',
    subjects: { user_id: 'path.user_id' },
    params: z.object({ user_id: Id }),
    returns: Erasure,
    refusals: {
      404: 'The team never had such a user, or the user was erased by a version without certificates.',
      409: 'The user is not erased yet.',
    },
  }),
}
