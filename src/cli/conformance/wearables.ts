import { answered, type Family, fieldsOf, listOf, must, needed, refusedWith, type Session, skip } from './session.ts'

const day = new Date().toISOString().slice(0, 10)

/** A server that has none of it says so by not knowing the path of the providers. */
async function served(session: Session) {
  const answer = await session.call('team', 'GET', '/v2/providers')
  if (answer.status === 404) skip('wearable data is not served here')
  return answer
}

export const wearables: Family = {
  name: 'Wearable data',
  checks: [
    {
      name: 'providers are listed',
      spec: 'User: connected_sources',
      async run(session) {
        const answer = await served(session)
        answered(answer, 200)
        for (const provider of listOf(answer.body, 'the list')) fieldsOf(provider, ['name', 'slug', 'logo'], 'a provider')
      },
    },
    {
      name: 'a summary of a user without data is an empty list',
      spec: 'Summary events',
      async run(session) {
        await served(session)
        const answer = await session.call('team', 'GET', `/v2/summary/activity/${needed(session, 'user_id')}?start_date=${day}`)
        answered(answer, 200)
        must(listOf(fieldsOf(answer.body, ['activity'])['activity'], 'activity').length === 0, 'there is something')
      },
    },
    {
      name: 'the stream of a workout that does not exist is 404',
      spec: 'Workout stream events',
      async run(session) {
        await served(session)
        refusedWith(await session.call('team', 'GET', '/v2/timeseries/workouts/00000000-0000-4000-8000-000000000000/stream'), 404)
      },
    },
  ],
}
