import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { LabConnections } from '../../src/platform/settings/lab-connections.ts'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { reservePort, reservePorts } from '../support/ports.ts'
import { readCredentials, root, type Service, startProcess } from '../support/process.ts'
import { SKIPPED_PART } from '../support/skip-reporter.ts'
import { ENCRYPTION_KEY, emptyDatabase, newDatabase, temporaryFolder } from '../support/world.ts'
import { blocksOf, isRun, languages, nameOf, pages, pageText } from './support/blocks.ts'
import { follow } from './support/follow.ts'
import { shellHelpers } from './support/helpers.ts'
import { tools } from './support/tools.ts'

const all = pages.flatMap((page) => blocksOf(page))

/** Blocks that cannot run here, with the reason. Add new ones here. */
const notRun = [
  ['README.md', 'this is the suite itself'],
  ['docs/appointments.md', 'needs access to the database'],
  ['docs/deploying.md', 'needs Docker and a registry'],
  ['docs/deploying.md', 'needs Docker'],
  ['docs/deploying.md', 'needs Docker'],
  ['docs/deploying.md', 'needs Docker'],
  ['docs/deploying.md', 'needs Docker'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/deploying.md', 'needs Kubernetes'],
  ['docs/guides/production.md', 'needs your own PostgreSQL and domain'],
  ['docs/operating.md', 'needs S3-compatible storage'],
  ['docs/pipelines.md', 'needs a broker and stays in the foreground'],
  ['docs/pipelines.md', 'needs the Pub/Sub emulator; both commands stay in the foreground'],
  ['docs/pipelines.md', 'needs the Pub/Sub emulator'],
  ['docs/quick-start.md', 'needs a repository URL and stays in the foreground'],
  ['docs/results.md', 'needs a result of a lab'],
  ['docs/scaling.md', 'needs a second server'],
  ['docs/scaling.md', 'needs a second server'],
  ['docs/scaling.md', 'needs a second server'],
  ['docs/scaling.md', 'needs a Citus cluster'],
]

test('lists every block that does not run', () => {
  const found = all.filter(({ attributes }) => attributes['not-run'] !== undefined)
  for (const block of found) console.log(`not run: ${nameOf(block)}: ${block.attributes['not-run']}`)
  expect(found.map(({ page, attributes }) => [page, attributes['not-run']])).toEqual(notRun)
})

test('every block has a known language', () => {
  expect(all.filter(({ language }) => !languages.includes(language)).map(nameOf)).toEqual([])
})

test('every JSON block parses', () => {
  for (const block of all.filter(({ language }) => language === 'json')) expect(() => JSON.parse(block.text), nameOf(block)).not.toThrow()
})

test('every connection to a lab in a block is valid', () => {
  const connections = all.flatMap(({ text }) => [...text.matchAll(/LAB_CONNECTIONS='([^'…]+)'/g)].map(([, json]) => json as string))
  expect(connections.length).toBeGreaterThan(1)
  for (const json of connections) LabConnections.parse(JSON.parse(json))
})

/** test/docs/newcomer.test.ts runs the README. */
const followed = pages.filter((page) => page !== 'README.md' && blocksOf(page).some(isRun))
/** Pages that start the service with settings of their own. */
const startingPages = ['docs/guides/hl7.md']
const missing = ['bash', 'curl'].find((tool) => !tools.has(tool))

describe.skipIf(missing)(missing ? `every sample runs (skipped: ${missing} is missing)` : 'every sample runs', () => {
  let database: string
  let service: Service
  const data = temporaryFolder()

  beforeAll(async () => {
    database = await newDatabase(inject('catalogTemplate'))
    const settings = { DATABASE_URL: database, ENCRYPTION_KEY, DATA_DIR: data, PUBSUB_PROJECTS: 'harbor-events' }
    service = await startProcess(settings)
  })
  afterAll(() => service?.stop())

  test.concurrent.for(followed)('%s', { timeout: LONG_TEST_MS }, async (page, context) => {
    const startsService = startingPages.includes(page)
    const port = startsService ? String(await reservePort()) : new URL(service.url).port
    // A port must not contain one that is replaced after it.
    const [hooks, lab, results] = (await reservePorts(6)).map(String).filter((free) => !/2575|2576|9099/.test(free))
    const addresses = { '127.0.0.1:8080': `127.0.0.1:${port}`, 9099: hooks ?? '', 2575: lab ?? '', 2576: results ?? '' }
    const empty = pageText(page).includes('$EMPTY_DATABASE_URL') ? { EMPTY_DATABASE_URL: await emptyDatabase() } : {}
    const url = startsService ? await newDatabase(inject('catalogTemplate')) : database
    const env = { DATABASE_URL: url, ENCRYPTION_KEY, PORT: port, ...empty }
    const folder = startsService ? newFolder(addresses) : await readersFolder(page, data, addresses)
    const { faults, skipped } = await follow(page, { folder, addresses, env })
    for (const block of skipped) await context.annotate(block, SKIPPED_PART)
    expect(faults.join('\n\n')).toBe('')
  })
})

/** A checkout with dependencies, the CLI and the helpers of the quick start. A service that starts there creates the keys. */
function newFolder(addresses: Record<string, string>) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const name of ['node_modules', 'bin']) symlinkSync(join(root, name), join(folder, name))
  writeFileSync(join(folder, 'data/helpers.sh'), shellHelpers(addresses))
  return folder
}

/** Creates the checkout of a reader: keys of a new team, dependencies, the CLI and the helpers of the quick start. */
async function readersFolder(page: string, data: string, addresses: Record<string, string>) {
  const { base_url, org_id, management_key } = readCredentials(data)
  const admin = createClient(base_url, { 'x-management-key': management_key })
  const { id: team_id } = await admin.createTeam({ params: { org_id }, body: { name: page.replace(/\W/g, ' '), region: 'us' } })
  const params = { org_id, env: 'sandbox', region: 'us' } as const
  const { value: team_api_key } = await admin.createTeamKey({ params, body: { label: page, team_id } })
  const folder = newFolder(addresses)
  const credentials = { base_url, org_id, team_id, team_api_key, management_key }
  writeFileSync(join(folder, 'data/credentials.json'), `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  return folder
}
