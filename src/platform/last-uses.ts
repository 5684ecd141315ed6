export const keyTables = ['team_api_keys', 'management_keys', 'lab_keys'] as const

export type KeyTable = (typeof keyTables)[number]

/** A team API key has a team. Other keys belong to no team. */
type Use = { at: string; team_id: string | undefined }

/** The last use of each key since the last flush. A write per request would cost more than the request itself. */
export type LastUses = Record<KeyTable, Map<string, Use>>

export const emptyLastUses = (): LastUses => ({ team_api_keys: new Map(), management_keys: new Map(), lab_keys: new Map() })
