import { z } from 'zod'
import { Id } from '../common.ts'
import { eventType, exampleValues } from '../delivery/event.ts'
import { User } from './users.ts'

const { user_id, team_id, client_user_id, at } = exampleValues

/** IDs only: `user.deleted` outlives the user's key, so it must not hold personal data. */
const UserReference = z.looseObject({ user_id: Id })

export const userEvents = {
  'user.created': eventType({
    key: 'user',
    description:
      'Emitted when a user is created. `data` is the user as `GET /v2/user/{user_id}` returns it. `assay import` emits no event.',
    data: User,
    example: {
      user_id,
      team_id,
      client_user_id,
      created_on: at,
      connected_sources: [],
      fallback_time_zone: { id: 'America/Phoenix', source_slug: 'manual', updated_at: at },
      fallback_birth_date: null,
      ingestion_start: null,
      ingestion_end: null,
    },
  }),
  'user.deleted': eventType({
    key: 'user',
    description:
      'Emitted when a user is deleted. You can undo the deletion for 7 days; then the user is erased. The event outlives the erasure: `user_id` and `client_user_id` of the envelope become null, and `data.user_id` remains. Resetting a sandbox team emits no event.',
    data: UserReference,
    example: { user_id },
  }),
  'user.deletion_undone': eventType({
    key: 'user',
    description: 'Emitted when the deletion of a user is undone. Sources that the deletion disconnected stay disconnected.',
    data: UserReference,
    example: { user_id },
  }),
}
