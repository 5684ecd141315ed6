import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { personal, Safe } from '../personal.ts'
import { userNotFound } from '../tenants/users.ts'
import { newSummaries } from './new-summaries.ts'
import { Sport, type SummaryName, summaries, summaryNames } from './summaries.ts'
import { days, documentSchema, ProviderFilter, PushResult, pushFields, SourceOut, wearable } from './wearables.ts'

const UserId = z.object({ user_id: Id })

/** The plural nouns in the titles of the operations. */
const nouns: Record<SummaryName, string> = {
  activity: 'activity summaries',
  sleep: 'sleep summaries',
  sleep_cycle: 'sleep cycles',
  workouts: 'workouts',
  body: 'body measurements',
  profile: 'profiles',
  meal: 'meals',
  menstrual_cycle: 'menstrual cycles',
  electrocardiogram: 'electrocardiograms',
}

const shapeOf = <const N extends SummaryName>(name: N) =>
  z.object({
    id: Id,
    user_id: Id,
    source: SourceOut,
    ...(summaries[name].fields as (typeof summaries)[N]['fields']),
    created_at: Instant,
    updated_at: Instant,
  })

/** A summary in a response. */
export type SummaryOut<N extends SummaryName> = z.input<ReturnType<typeof shapeOf<N>>>

const listOf = <const K extends string, S extends z.ZodType>(list: K, shape: S) =>
  z.object({ [list]: z.array(shape) } as Record<K, z.ZodArray<S>>)

const listSummaries = <const N extends SummaryName, const L extends string>(name: N, list: L) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/summary/${name}/{user_id}`,
    summary: `List ${nouns[name]}`,
    description: 'start_date and end_date select whole days by calendar_date, in the calendar of the user.',
    params: UserId,
    query: z.object(days),
    returns: listOf(list, shapeOf(name)),
    largeResponse: true,
    refusals: { 400: 'The period contains too many summaries.', ...userNotFound },
  })

const Provider = z.object({ name: Safe, slug: Safe, logo: Safe })

const Raw = z.object({
  id: Id,
  user_id: Id,
  timestamp: Instant,
  data: personal(z.looseObject({})).describe('The data as the source sent it.'),
  provider_id: Safe,
  source_id: z.int(),
  priority_id: z.int().describe('The priority of the source for this kind of data. The highest priority is 1.'),
  priority: z.int().nullish(),
  source_device_id: Id.nullish(),
  source: Provider,
  created_at: Instant,
  updated_at: Instant,
})

const listRaw = <const N extends SummaryName, S extends z.ZodType>(name: N, shape: S) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/summary/${name}/{user_id}/raw`,
    summary: `List raw ${nouns[name]}`,
    description: 'Returns the data as the source sent it. start_date and end_date select whole days by calendar_date.',
    params: UserId,
    query: z.object(days),
    returns: listOf(name, shape),
    largeResponse: true,
    refusals: { 400: 'The period contains too many summaries.', ...userNotFound },
  })

const AnySummary = z.union(Object.values(newSummaries))

const NewSummaries = z
  .object({
    ...pushFields,
    data: z.unknown().meta({
      ...documentSchema(z.union([AnySummary, z.array(AnySummary)])),
      description: 'One summary or a list of summaries, in the shape of the resource.',
    }),
  })
  .meta({ id: 'NewSummaries' })

const noProfile = { 404: 'No such user, or no source has sent a profile yet.' }

export const summaryEndpoints = {
  pushSummaries: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/summary/{resource}/{user_id}',
    summary: 'Push summaries',
    description:
      'The ID of a summary is derived from its user, source and subject, so sending a summary again replaces it. Samples inside a summary are stored as samples. You can compress the body with gzip. Emits `daily.data.{resource}.created` and `.updated`, or `historical.data.{resource}.created`.',
    largeBody: true,
    userToken: true,
    params: z.object({ resource: z.enum(summaryNames, `Must be one of ${summaryNames.join(', ')}.`), user_id: Id }),
    body: NewSummaries,
    returns: PushResult,
    refusals: { 400: 'The source was disconnected.', ...userNotFound, 413: 'The body is too large.' },
  }),
  listActivity: listSummaries('activity', 'activity'),
  listSleep: listSummaries('sleep', 'sleep'),
  listSleepCycles: listSummaries('sleep_cycle', 'sleep_cycle'),
  listWorkouts: listSummaries('workouts', 'workouts'),
  listBody: listSummaries('body', 'body'),
  listMeals: listSummaries('meal', 'meals'),
  listMenstrualCycles: listSummaries('menstrual_cycle', 'menstrual_cycle'),
  listElectrocardiograms: listSummaries('electrocardiogram', 'electrocardiogram'),
  getProfile: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/profile/{user_id}',
    summary: 'Get the profile of a user',
    description: 'Returns the profile of the source in `provider`, or the one that changed last.',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: shapeOf('profile'),
    refusals: noProfile,
  }),
  listRawActivity: listRaw('activity', Raw),
  listRawSleep: listRaw('sleep', Raw),
  listRawWorkouts: listRaw('workouts', Raw.extend({ sport_id: z.int(), sport: Sport })),
  listRawBody: listRaw('body', Raw),
  getRawProfile: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/profile/{user_id}/raw',
    summary: 'Get the raw profile of a user',
    description: 'Returns the profile as the source sent it.',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: z.object({ profile: Raw }),
    refusals: noProfile,
  }),
  listRawDevices: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/devices/{user_id}/raw',
    summary: 'List raw devices',
    description: 'Returns the devices that recorded data of the user, as the sources sent them.',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: z.object({
      devices: z.array(
        z.object({ id: Id, user_id: Id, data: personal(z.looseObject({})), provider_id: Safe, source_id: z.int(), source: Provider }),
      ),
    }),
    refusals: userNotFound,
  }),
}
