import { expect, test } from 'vitest'
import { listEventsAt } from '../../src/delivery/events/access.ts'
import { keyOfMessage } from '../../src/delivery/events/body.ts'
import { bodyInFormat, type ToFhir } from '../../src/delivery/formats/body.ts'
import { moveAllEvents } from '../support/events.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

const w = await world({ env: { EVENT_MAX_KB: '64' } })

/** The body of `user.created` in the format `fhir`. */
async function fhirBody(toFhir?: ToFhir) {
  const { team_id, api } = await w.tenant()
  await aUser(api)
  await moveAllEvents(w.app)
  const { logged_at: at } = await w.app.db
    .selectFrom('events')
    .select('logged_at')
    .where('team_id', '=', team_id)
    .where('no', '=', 1)
    .executeTakeFirstOrThrow()
  const found = (await listEventsAt(w.app.db, team_id, [{ no: 1, at }])).get(1)
  const event = { ...found, sealed: found?.sealed } as Parameters<typeof bodyInFormat>[1]['event']
  const key = await keyOfMessage(w.app, { ...event, team_id })
  const target = { team_id, destination: newUuid(), format: 'fhir', include_client_user_id: false } as const
  return bodyInFormat({ app: w.app, toFhir }, { ...target, key, event })
}

test('the format fhir sends what the service makes of the event', async () => {
  const body = await fhirBody(async (_, { event_type }) => JSON.stringify({ resourceType: 'Bundle', about: event_type }))
  expect([body.content_type, JSON.parse(body.text)]).toEqual(['application/fhir+json', { resourceType: 'Bundle', about: 'user.created' }])
  expect(body.full).toContain('"data"')
})

test.each<[string, ToFhir | undefined]>([
  ['an event without a resource', async () => undefined],
  ['a bundle larger than EVENT_MAX_KB', async () => 'x'.repeat(64 * 1024 + 1)],
  ['every event of a service without resources', undefined],
])('the format fhir sends %s thin', async (_, toFhir) => {
  const body = await fhirBody(toFhir)
  expect(JSON.parse(body.text)).toMatchObject({ event_type: 'user.created', sequence: 1, ticket: expect.any(String) })
  expect([body.content_type, body.full]).toEqual(['application/json', undefined])
})
