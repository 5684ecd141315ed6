import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate, migrationFiles } from '../../src/platform/db/migrate.ts'
import { seal } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey } from '../../src/platform/sealing/vault.ts'
import { atEnd } from '../support/at-end.ts'
import { deploymentOf, emitEvents } from '../support/pipelines.ts'
import { query } from '../support/query.ts'
import { emptyDatabase, world } from '../support/world.ts'

test('migrates a single-destination pipeline with its settings, position and status', async () => {
  const database = await emptyDatabase()
  const pool = new pg.Pool({ connectionString: database })
  atEnd(() => pool.end())
  const files = await migrationFiles()
  await migrate(
    pool,
    files.filter((file) => file < '0015'),
  )
  const w = await world({ database })
  await emitEvents(w.app, w, ['a', 'b', 'c', 'd', 'e'])
  const at = '2026-03-01T09:30:00.000Z'
  const settings = { uri: 'amqps://courier:broker-password@broker.example.com/labs', exchange: 'events' }
  const sealed = seal(await teamSealingKey(w.app, w.team_id), `pipelines.sealed.${w.team_id}`, settings)
  await query(
    database,
    `insert into pipelines
       (team_id, push_historical_data, preferred, enabled, event_type_prefixes, sealed, revision, created_at, updated_at, after_no, delivered,
        last_delivered_at, failures, first_failure_at, last_failure_at, last_error, retry_at, holder, leased_until)
     select $1, true, 'rabbitmq', '{rabbitmq}', '{endpoint.}', $2, 7, $3, $3, (select no from events order by no offset 1 limit 1), 2,
        $3, 4, $3, $3, 'refused', $3, gen_random_uuid(), now() + interval '1 hour'`,
    [w.team_id, sealed, at],
  )

  expect(await migrate(pool)).toContain('0015_pipeline_outlets.sql')

  expect((await w.admin.listPipelines({ params: deploymentOf(w) })).pipelines).toEqual([
    {
      team_id: w.team_id,
      push_historical_data: true,
      provider_raw_data: false,
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] },
      cloud_pubsub: null,
      rabbitmq: { uri: 'amqps://***:***@broker.example.com/labs', exchange: 'events' },
      svix: null,
      azure_amqp: null,
      event_type_prefixes: ['endpoint.'],
      destinations: [
        {
          destination: 'rabbitmq',
          delivered: 2,
          last_delivered_at: at,
          lag: 3,
          failures: 4,
          failing_since: at,
          last_error: { code: 'refused', message: expect.any(String), at },
          next_try_at: at,
          created_at: at,
        },
      ],
      created_at: at,
      updated_at: at,
    },
  ])
  expect(await query(database, 'select revision, holder, leased_until from pipeline_outlets')).toEqual([
    { revision: 7, holder: null, leased_until: null },
  ])
})
