import type { Client } from '../contract/client.ts'
import { Text } from '../contract/common.ts'
import { setupProblem } from '../platform/problem.ts'
import { type Random, randomItem, seededRandom } from '../platform/seeded-random.ts'
import { command, print } from './command.ts'
import { progress } from './progress.ts'
import { person } from './seed-people.ts'
import { asTeam, Count, serviceOptions } from './service.ts'

export const seedCommand = command({
  name: 'seed',
  summary:
    'Create sample users with demographics and orders in the sandbox, some of them with results. The same seed creates the same data. You can run the command again: it skips users that exist.',
  options: {
    ...serviceOptions,
    users: { value: 'N', what: 'Number of users.', shape: Count, fallback: '25' },
    orders: { value: 'N', what: 'Maximum number of orders per user.', shape: Count, fallback: '3' },
    seed: { value: 'TEXT', what: 'Seed of the random data.', shape: Text(40), fallback: 'demo' },
  },
  examples: ['assay seed', 'assay seed --users 500 --seed load'],
  async run({ users, orders, seed, json, ...access }) {
    const { api } = asTeam(access)
    const tests = await listOrderableTests(api)
    const created = { users: 0, there: 0, orders: 0, results: 0 }
    const bar = progress('users', users)
    await forEachConcurrently(users, async (n) => {
      const user = await seedUser(api, `seed-${seed}-${n + 1}`, seededRandom(seed, String(n)), { tests, orders })
      if (!user) created.there++
      else {
        created.users++
        created.orders += user.orders
        created.results += user.results
      }
      bar.add()
    })
    bar.end()
    print(json, created, [
      `created ${created.users} users with ${created.orders} orders, ${created.results} of them with results; ${created.there} users existed`,
    ])
  },
})

type Test = { id: string; method: string }

/** Lab tests without AoE questions, so that every order is complete. */
async function listOrderableTests(api: Client): Promise<Test[]> {
  const { data } = await api.listLabTests({ query: { lab_test_limit: 500, status: 'active' } })
  const tests = data.filter(({ markers }) => !markers?.some(({ aoe }) => aoe?.questions.length))
  if (!tests.length) throw setupProblem('The catalog has no active lab test without AoE questions')
  return tests
}

const CONCURRENCY = 4

/** Limits the concurrency, so other clients of the service are not slowed down. */
async function forEachConcurrently(count: number, work: (n: number) => Promise<void>) {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

type SeedOptions = { tests: Test[]; orders: number }

/** Returns undefined if an earlier run finished this user; demographics are recorded last. */
async function seedUser(api: Client, client_user_id: string, random: Random, { tests, orders }: SeedOptions) {
  const { address, ...patient } = person(random)
  const user_id = await ensureUser(api, client_user_id)
  if (await hasInfo(api, user_id)) return undefined
  const created = { orders: 0, results: 0 }
  const orderCount = Math.floor(random() * (orders + 1))
  for (let i = 0; i < orderCount; i++) {
    const test = randomItem(random, tests) as Test
    const body = { user_id, patient_details: patient, patient_address: address, order_set: { lab_test_ids: [test.id] } }
    const headers = { 'x-idempotency-key': `${client_user_id}-${i}` }
    const { order } = await api.createOrder({ body, headers })
    created.orders++
    if (await advanceOrder(api, order.id, test.method, random)) created.results++
  }
  await api.putUserInfo({ params: { user_id }, body: { ...patient, address } })
  return created
}

async function ensureUser(api: Client, client_user_id: string) {
  try {
    return (await api.createUser({ body: { client_user_id } })).user_id
  } catch (error) {
    const { user_id } = (error as { detail?: { user_id?: string } }).detail ?? {}
    if (!user_id) throw error
    return user_id
  }
}

const hasInfo = (api: Client, user_id: string) =>
  api.getUserInfo({ params: { user_id } }).then(
    () => true,
    (error: { status?: number }) => {
      if (error.status === 404) return false
      throw error
    },
  )

/** Completes most orders, a few with abnormal or critical results; others fail, are canceled or stay in progress. */
async function advanceOrder(api: Client, order_id: string, method: string, random: Random) {
  const params = { order_id }
  const roll = random()
  if (roll < 0.2) return false
  if (roll < 0.27)
    return api.simulateOrder({ params, query: { final_status: `failed.${method}.sample_error` }, body: {} }).then(() => false)
  if (roll < 0.32) return api.cancelOrder({ params }).then(() => false)
  const interpretation = roll < 0.37 ? 'critical' : roll < 0.55 ? 'abnormal' : 'normal'
  await api.simulateOrder({ params, body: { interpretation } })
  return true
}
