import { beforeAll, expect, test } from 'vitest'
import { DAY, later } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { newDatabase, world } from '../support/world.ts'
import { assay } from './assay.ts'

let w: Awaited<ReturnType<typeof world>>
let cli: ReturnType<typeof assay>
beforeAll(async () => {
  w = await world()
  cli = assay(w.url)
})

const dayFrom = (moment: string, days: number) => later(moment, days * DAY).slice(0, 10)
const some = ['--days', '2', '--samples', '11']
const seed = (users: number, ...more: string[]) => cli.json('seed', 'wearables', '--users', String(users), ...some, ...more)

test('creates users with samples, resumes and keeps existing users', async () => {
  const team = ['--team', w.team_id]
  const began = w.app.wall()
  expect(await seed(2, ...team)).toEqual({ users: 2, samples: 44, there: 0 })
  expect(await seed(3, ...team)).toEqual({ users: 1, samples: 22, there: 2 })
  expect(await seed(3, ...team)).toEqual({ users: 0, samples: 0, there: 3 })
  const { users } = await w.api.listUsers({ query: {} })
  expect(users.map(({ client_user_id }) => client_user_id).sort()).toEqual(['demo-1', 'demo-2', 'demo-3'])
  const read = async (user_id: string, resource: string) => {
    const page = await w.api.listSamples({
      params: { user_id, resource },
      query: { start_date: dayFrom(began, -3), end_date: dayFrom(began, 1) },
    })
    return page.groups['fitbit']?.flatMap(({ data }) => data.map(({ timestamp }) => timestamp.slice(0, 10))) ?? []
  }
  for (const { user_id } of users) {
    const [first = ''] = await read(user_id, 'heartrate')
    // The command uses the system clock, which may pass midnight during the test.
    expect([dayFrom(began, -2), dayFrom(began, -1)]).toContain(first)
    const second = dayFrom(`${first}T00:00:00.000Z`, 1)
    expect(await read(user_id, 'heartrate')).toEqual([...Array(6).fill(first), ...Array(6).fill(second)])
    expect(await read(user_id, 'glucose')).toEqual([...Array(5).fill(first), ...Array(5).fill(second)])
  }
  const rows = await query(w.url, `select subject from ${auditRows} where action = 'operator seed wearables'`)
  expect(rows).toEqual(Array(3).fill({ subject: `team_id:${w.team_id}` }))
})

test('creates many users in parallel, each once', async () => {
  const t = await w.tenant()
  const many = ['--days', '1', '--samples', '2', '--team', t.team_id]
  expect(await cli.json('seed', 'wearables', '--users', '30', ...many)).toEqual({ users: 30, samples: 60, there: 0 })
  expect((await t.api.listUsers({ query: { limit: 100 } })).users.map(({ client_user_id }) => client_user_id).sort()).toEqual(
    Array.from({ length: 30 }, (_, i) => `demo-${i + 1}`).sort(),
  )
})

test('reports its progress', async () => {
  const { code, out, err } = await cli.run('seed', 'wearables', '--users', '3', ...some, '--team', w.team_id)
  expect({ code, out }).toEqual({ code: 0, out: 'created 0 users with 0 samples; 3 users existed\n' })
  expect(err).toMatch(/^users 3 of 3 in \d+\.\d s\n$/)
})

test.each([
  [['--users', '0'], '--users must be a whole number from 1 to 1000000.'],
  [['--days', '367'], '--days must be a whole number from 1 to 366.'],
  [['--samples', 'many'], '--samples must be a whole number from 1 to 2880.'],
  [['--team', 'ours'], '--team must be'],
])('rejects %j', async (args, because) => {
  const { code, err } = await cli.run('seed', 'wearables', ...args)
  expect(code).toBe(2)
  expect(err).toContain(because)
})

test('rejects an unknown team and production', async () => {
  const gone = await cli.run('seed', 'wearables', '--team', newUuid())
  expect(gone).toMatchObject({ code: 1, err: 'No such team; list the teams with: assay team\n' })
  const production = assay(await newDatabase(), { ENVIRONMENT: 'production' })
  await production.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
  const refused = await production.run('seed', 'wearables')
  expect(refused).toMatchObject({ code: 1, err: 'Sample data can be created in a sandbox only\n' })
})
