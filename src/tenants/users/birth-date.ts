import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import type { UserRow } from './store.ts'

/** What counts where a source does not know the birth date, and whom it is from. */
export type BirthDate = { value: string; source_slug: string; updated_at: string }

/** As the public interface names the customer among the sources. */
export const BY_CUSTOMER = 'manual'

const associatedData = (user_id: string) => `users.sealed.${user_id}`

export const birthDateOf = (key: SealingKey, { user_id, sealed }: UserRow) =>
  sealed ? open<BirthDate>(key, associatedData(user_id), sealed) : null

export const sealBirthDate = (key: SealingKey, user_id: string, birth: BirthDate) => seal(key, associatedData(user_id), birth)
