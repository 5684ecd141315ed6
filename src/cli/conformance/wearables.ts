import { answered, type Family, fieldsOf, listOf, must, needed, refusedWith, type Session, skip } from './session.ts'

const day = new Date().toISOString().slice(0, 10)

/** A server without wearable data returns 404 for the list of providers. */
async function served(session: Session) {
  const answer = await session.call('team', 'GET', '/v2/providers')
  if (answer.status === 404) skip('the server has no wearable data')
  return answer
}

export const wearables: Family = {
  name: 'Wearable data',
  checks: [
    {
      name: 'lists providers',
      spec: 'User: connected_sources',
      async run(session) {
        const answer = await served(session)
        answered(answer, 200)
        for (const provider of listOf(answer.body, 'the list')) fieldsOf(provider, ['name', 'slug', 'logo'], 'a provider')
      },
    },
    {
      name: 'returns an empty list for a user without data',
      spec: 'Summary events',
      async run(session) {
        await served(session)
        const answer = await session.call('team', 'GET', `/v2/summary/activity/${needed(session, 'user_id')}?start_date=${day}`)
        answered(answer, 200)
        must(listOf(fieldsOf(answer.body, ['activity'])['activity'], 'activity').length === 0, 'the list is not empty')
      },
    },
    {
      name: 'returns 404 for the stream of an unknown workout',
      spec: 'Workout stream events',
      async run(session) {
        await served(session)
        refusedWith(await session.call('team', 'GET', '/v2/timeseries/workouts/00000000-0000-4000-8000-000000000000/stream'), 404)
      },
    },
  ],
}
