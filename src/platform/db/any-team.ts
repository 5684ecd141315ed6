import { sql } from 'kysely'

/**
 * Marks a read that is not about one team: a search for work that is then done per team, or a list of an organization or of the
 * deployment. Every other statement names its team for each table that it touches; the test run fails otherwise. The purpose is part
 * of the statement, so it must not come from a caller.
 */
export const anyTeam = (purpose: string) => sql.raw(`/* any team: ${purpose} */`)

/** Marks a delete of old rows, which can be of any team. */
export const pruning = (rows: string) => sql.raw(`/* pruning: ${rows} */`)
