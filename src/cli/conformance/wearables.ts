import { assertThat, expectRefusal, expectStatus, type Family, fieldsOf, listOf, requireId, type Session, skip } from './session.ts'

const day = new Date().toISOString().slice(0, 10)

/** A server without wearable data returns 404 for the list of providers. */
async function requireProviders(session: Session) {
  const reply = await session.call('team', 'GET', '/v2/providers')
  if (reply.status === 404) skip('the server has no wearable data')
  return reply
}

export const wearables: Family = {
  name: 'Wearable data',
  checks: [
    {
      name: 'lists providers',
      spec: 'User: connected_sources',
      async run(session) {
        const reply = await requireProviders(session)
        expectStatus(reply, 200)
        for (const provider of listOf(reply.body, 'the list')) fieldsOf(provider, ['name', 'slug', 'logo'], 'a provider')
      },
    },
    {
      name: 'returns an empty list for a user without data',
      spec: 'Summary events',
      async run(session) {
        await requireProviders(session)
        const reply = await session.call('team', 'GET', `/v2/summary/activity/${requireId(session, 'user_id')}?start_date=${day}`)
        expectStatus(reply, 200)
        assertThat(listOf(fieldsOf(reply.body, ['activity'])['activity'], 'activity').length === 0, 'the list is not empty')
      },
    },
    {
      name: 'returns 404 for the stream of an unknown workout',
      spec: 'Workout stream events',
      async run(session) {
        await requireProviders(session)
        expectRefusal(await session.call('team', 'GET', '/v2/timeseries/workouts/00000000-0000-4000-8000-000000000000/stream'), 404)
      },
    },
  ],
}
