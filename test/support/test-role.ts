import { sql } from 'kysely'
import type pg from 'pg'

/** The role of the tests' own statements, which are not the service's. */
export const TEST_ROLE = 'assay_tests'

/** A connection with this role. It exists on the embedded server only. */
export const asTestRole = (url: string): pg.ClientConfig => ({ connectionString: url, options: `-c role=${TEST_ROLE}` })

/** A connection of the tests to the server of this run. They create triggers, which Citus refuses otherwise. */
export const testConnection = (url: string): pg.ClientConfig =>
  process.env['TEST_DATABASE_URL']
    ? { connectionString: url, options: '-c citus.enable_unsafe_triggers=on -c citus.multi_shard_modify_mode=sequential' }
    : asTestRole(url)

/** The purpose of a test's statement that runs as the service. */
export const TEST_PURPOSE = 'a test'

export const anyTeamOfTest = sql.raw(`/* any team: ${TEST_PURPOSE} */`)
