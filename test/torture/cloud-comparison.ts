import { inParallel } from '../../src/platform/in-parallel.ts'
import { isSummary, keyOf } from './cloud-ledger.ts'
import type { CloudSite, StormCloud } from './cloud-site.ts'
import { oldestRead, type Subject } from './cloud-subjects.ts'

type Compared = { cloud: StormCloud; account: string; user_id: string }

/** Compares what each cloud holds with what reads return and what the events said. */
export async function compareAll(site: CloudSite, accounts: Compared[], parallel: number) {
  const faults: string[] = []
  const delivered = site.ledger.delivered()
  let compared = 0
  await inParallel(accounts, parallel, async ({ cloud, account, user_id }) => {
    for (const subject of cloud.subjects) {
      const held = new Map(subject.held(account))
      const name = `${user_id} ${cloud.slug} ${subject.resource}`
      const read = await readAll(site, user_id, cloud, subject)
      compared += held.size
      faults.push(...differences(`${name}, read`, held, read))
      faults.push(...differences(`${name}, events`, held, delivered.get(name) ?? new Map()))
    }
  })
  return { compared, faults }
}

function differences(name: string, held: Map<string, number>, found: Map<string, number>) {
  const keys = new Set([...held.keys(), ...found.keys()])
  return [...keys].flatMap((key) => {
    const [expected, actual] = [held.get(key), found.get(key)]
    const isEqual = expected !== undefined && actual !== undefined && Math.abs(expected - actual) < 1e-6
    return isEqual ? [] : [`${name} ${key}: ${actual} instead of ${expected}`]
  })
}

async function readAll({ api, now }: CloudSite, user_id: string, { slug }: StormCloud, { resource, field }: Subject) {
  const range = { start_date: oldestRead(now), end_date: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10), provider: slug }
  const options = { params: { user_id }, query: range }
  const items: Record<string, unknown>[] = []
  if (resource === 'activity') items.push(...(await api.listActivity(options)).activity)
  else if (resource === 'sleep') items.push(...(await api.listSleep(options)).sleep)
  else if (resource === 'workouts') items.push(...(await api.listWorkouts(options)).workouts)
  for (let next_cursor: string | null | undefined; !isSummary(resource); ) {
    const page = await api.listSamples({ params: { user_id, resource }, query: { ...range, next_cursor } })
    items.push(...((page.groups[slug] ?? []).flatMap(({ data }) => data) as unknown as typeof items))
    next_cursor = page.next_cursor
    if (!next_cursor) break
  }
  return new Map(items.map((item) => [keyOf(resource, item), Number(item[field])]))
}
