import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import type { UserRow } from './store.ts'

/** The birth date used if a source does not know it, with its origin. */
type BirthDate = { value: string; source_slug: string; updated_at: string }

/** The public API's source slug for values the customer sets. */
export const CUSTOMER_SOURCE = 'manual'

const associatedData = (user_id: string) => `users.sealed.${user_id}`

export const decryptBirthDate = (key: SealingKey, { user_id, sealed }: UserRow) =>
  sealed ? open<BirthDate>(key, associatedData(user_id), sealed) : null

export const encryptBirthDate = (key: SealingKey, user_id: string, birth: BirthDate) => seal(key, associatedData(user_id), birth)
