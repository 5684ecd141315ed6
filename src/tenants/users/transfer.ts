import { indexTerms } from '../../platform/sealing/blind-index.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { Info } from './records.ts'
import { searchableTexts } from './rules.ts'
import type { Part } from './transfer-part.ts'

export { countUsers, findByClientId } from './store.ts'
export { findTeamOfUser, insertUser, keepUser, listUsersAfter } from './store-transfer.ts'

export const parts: Part[] = [
  {
    table: 'user_info',
    sealed: ['user_id'],
    ids: ['user_id'],
    order: ['user_id'],
    rehash: async ({ sealed }, { app, team_id }) => ({
      terms: indexTerms(await teamSealingKey(app, team_id), searchableTexts(sealed as Info)),
    }),
  },
  { table: 'user_insurances', sealed: ['user_id', 'id'], ids: ['user_id', 'id'], order: ['written_at', 'id'] },
]
