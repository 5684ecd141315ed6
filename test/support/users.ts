import type { Client } from '../../src/contract/client.ts'
import { nextNumber } from './seeded.ts'

/** Creates a user and returns its ID. */
export const aUser = async (api: Client, change: object = {}) =>
  (await api.createUser({ body: { client_user_id: `patient-${nextNumber('patient')}`, ...change } })).user_id
