import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../src/contract/client.ts'
import type { ResponseBody } from '../../src/contract/endpoint.ts'
import { type Endpoints, endpoints } from '../../src/contract/index.ts'
import { auditRows } from '../support/audit.ts'
import { people } from '../support/people.ts'
import type { Subject } from './rounds.ts'
import type { Attempt } from './writers.ts'

type User = ResponseBody<Endpoints['createUser']>
type NewUser = ReturnType<typeof userBody>

const checks = {
  'users with the same client_user_id':
    'select count(*) from (select 1 from users group by team_id, client_user_id having count(*) > 1) twice',
  'users without a key': 'select count(*) from users left join sealing_keys using (user_id) where sealing_keys.id is null',
  'users without exactly one audit row of their creation': `select count(*) from users
    left join (select subject, count(*) from ${auditRows} where action = 'createUser' and status = 200 group by 1) created
      on created.subject = 'user_id:' || users.user_id where created.count is distinct from 1`,
  'users without exactly one user.created': `select count(*) from users
    left join (select user_id, count(*) from events where event_type = 'user.created' group by 1) emitted using (user_id)
    where emitted.count is distinct from 1`,
  'creations in the audit log without a user': `select count(*) from ${auditRows} where action = 'createUser' and status = 200
    and not exists (select 1 from users where 'user_id:' || users.user_id = audit_log.subject)`,
}

/** Users created during kills. */
export const users: Subject<NewUser, User> = {
  prepare: async () => ({ row: endpoints.createUser, body: userBody }),
  compare,
  checks,
}

const userBody = (client_user_id: string) => ({
  client_user_id,
  fallback_time_zone: 'Europe/Berlin',
  fallback_birth_date: people[client_user_id.length % people.length]?.dob as string,
  ingestion_start: '2026-01-01',
})

async function compare(api: Client, attempts: Attempt<NewUser, User>[]) {
  const known = Map.groupBy(await listAllUsers(api), (user) => user.client_user_id)
  const duplicates = [...known].filter(([, users]) => users.length > 1).map(([id]) => `${id} exists twice`)
  const verdicts = attempts.map((attempt) => verdictOf(attempt, known.get(attempt.body.client_user_id)?.[0]))
  const faults = verdicts.filter((verdict) => verdict !== undefined).filter((verdict) => verdict !== 'lost')
  return { lost: verdicts.filter((verdict) => verdict === 'lost').length, faults: [...duplicates, ...faults] }
}

/** An acknowledged user exists as returned; any other exists completely or not at all. */
function verdictOf({ body, response: user }: Attempt<NewUser, User>, found: User | undefined) {
  if (user) return !found ? 'lost' : isDeepStrictEqual(found, user) ? undefined : `${body.client_user_id} changed`
  if (!found) return undefined
  const isComplete =
    found.fallback_birth_date?.value === body.fallback_birth_date && found.fallback_time_zone?.id === body.fallback_time_zone
  return isComplete ? undefined : `${body.client_user_id} is incomplete`
}

async function listAllUsers(api: Client) {
  const users: User[] = []
  for (let total = 1; users.length < total; ) {
    const page = await api.listUsers({ query: { limit: 500, offset: users.length } })
    if (!page.users.length) throw new Error(`The list ends at ${users.length} of ${page.total}`)
    users.push(...page.users)
    total = page.total
  }
  return users
}
