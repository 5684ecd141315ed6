import { environments, Id, regions } from '../contract/common.ts'
import { command, print } from './command.ts'
import { access } from './conformance/access.ts'
import { catalog } from './conformance/catalog.ts'
import { management, webhooks } from './conformance/management.ts'
import { orders, results } from './conformance/orders.ts'
import { type Check, type Family, isSkipped, openSession, type Session } from './conformance/session.ts'
import { deleteCreatedUsers, users } from './conformance/users.ts'
import { wearables } from './conformance/wearables.ts'
import { progress } from './progress.ts'
import { asTeam, managementKey, serviceOptions } from './service.ts'

const families: Family[] = [access, users, catalog, orders, results, management, webhooks, wearables]

export const conformanceCommand = command({
  name: 'conformance',
  summary:
    'Test whether a server implements the API, over HTTP only, and print a scored report. The command creates users whose client_user_id starts with "conformance-", places orders and deletes the users, so use a sandbox. It exits with 1 if a check fails.',
  options: {
    ...serviceOptions,
    'management-key-file': {
      value: 'FILE',
      what: 'File that contains the management key. Default: ASSAY_MANAGEMENT_KEY, or the key in credentials.json.',
      file: true,
    },
    org: { value: 'ID', what: 'Organization of the management key. Default: the one in credentials.json.', shape: Id },
    team: { value: 'ID', what: 'Team of the team API key. Default: the one in credentials.json.', shape: Id },
    environment: { value: environments.join('|'), what: 'Environment of the server.', oneOf: environments, fallback: 'sandbox' },
    region: { value: regions.join('|'), what: 'Region of the server.', oneOf: regions, fallback: 'us' },
  },
  examples: ['ASSAY_URL=https://sandbox.example.com ASSAY_API_KEY=… assay conformance --json'],
  async run({ json, org, team, environment: env, region, 'management-key-file': file, ...access }) {
    const { base, key, stored } = asTeam(access)
    const managementSecret = managementKey(base, file)
    const org_id = org ?? stored.org_id
    const team_id = team ?? stored.team_id
    const keys = {
      base,
      team: { 'x-service-api-key': key },
      management: managementSecret ? { 'x-management-key': managementSecret } : undefined,
    }
    const session = openSession(keys, managementSecret && org_id && team_id ? { org_id, team_id, env, region } : undefined)
    const report = await runChecks(session)
    print(json, { url: base, ...report }, linesOf(report))
    if (report.failed) process.exitCode = 1
  },
})

type Verdict = { name: string; spec: string; state: 'passed' | 'failed' | 'skipped'; text?: string }

async function runChecks(session: Session) {
  const bar = progress('checks', families.flatMap(({ checks }) => checks).length)
  const results: { name: string; checks: Verdict[] }[] = []
  for (const { name, checks } of families) {
    const verdicts: Verdict[] = []
    for (const check of checks) {
      verdicts.push(await verdictOf(session, check))
      bar.add()
    }
    results.push({ name, checks: verdicts })
  }
  await deleteCreatedUsers(session)
  bar.end()
  const count = (state: string) => results.flatMap(({ checks }) => checks).filter((verdict) => verdict.state === state).length
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')]
  return { score: passed + failed ? Math.floor((1000 * passed) / (passed + failed)) / 10 : 0, passed, failed, skipped, families: results }
}

async function verdictOf(session: Session, { name, spec, run }: Check): Promise<Verdict> {
  try {
    await run(session)
    return { name, spec, state: 'passed' }
  } catch (error) {
    const text = error instanceof SyntaxError ? 'the response is not JSON' : (error as Error).message
    return { name, spec, state: isSkipped(error) ? 'skipped' : 'failed', text }
  }
}

const labels = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' }

const linesOf = ({ families, score, passed, failed, skipped }: Awaited<ReturnType<typeof runChecks>>) => [
  ...families.flatMap(({ name, checks }) => [
    name,
    ...checks.map(
      ({ name, spec, state, text }) => `  ${labels[state]}  ${name}${text ? `: ${text}` : ''}${state === 'failed' ? `  [${spec}]` : ''}`,
    ),
    '',
  ]),
  `score ${score}%: ${passed} passed, ${failed} failed, ${skipped} skipped`,
]
