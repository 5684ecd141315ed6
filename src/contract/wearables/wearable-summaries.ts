import { z } from 'zod'
import { Id, Instant } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { toSchema } from '../json-schema.ts'
import { personal, Safe } from '../personal.ts'
import { newSummaries } from './new-summaries.ts'
import { Sport, type SummaryName, summaries, summaryNames } from './summaries.ts'
import { ProviderFilter, pushed, SourceOut, Taken, unknownUser, wearable, window } from './wearables.ts'

const UserId = z.object({ user_id: Id })

const shapeOf = <const N extends SummaryName>(name: N) =>
  z.object({
    id: Id,
    user_id: Id,
    source: SourceOut,
    ...(summaries[name].fields as (typeof summaries)[N]['fields']),
    created_at: Instant,
    updated_at: Instant,
  })

/** A summary as it is answered. */
export type SummaryOut<N extends SummaryName> = z.input<ReturnType<typeof shapeOf<N>>>

const listOf = <const K extends string, S extends z.ZodType>(list: K, shape: S) =>
  z.object({ [list]: z.array(shape) } as Record<K, z.ZodArray<S>>)

/** The list of a resource, by days on the user's calendar. */
const listed = <const N extends SummaryName, const L extends string>(name: N, list: L) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/summary/${name}/{user_id}`,
    summary: `Read ${name.replaceAll('_', ' ')}`,
    description: `Each entry is ${summaries[name].what}. The window selects whole days by calendar_date.`,
    params: UserId,
    query: z.object(window),
    returns: listOf(list, shapeOf(name)),
    refusals: unknownUser,
  })

const Provider = z.object({ name: Safe, slug: Safe, logo: Safe })

const Raw = z.object({
  id: Id,
  user_id: Id,
  timestamp: Instant,
  data: personal(z.looseObject({})).describe('As the source sent it.'),
  provider_id: Safe,
  source_id: z.int(),
  priority_id: z.int().describe('The place of the source among those that tell of the same; 1 comes first.'),
  priority: z.int().nullish(),
  source_device_id: Id.nullish(),
  source: Provider,
  created_at: Instant,
  updated_at: Instant,
})

const raw = <const N extends SummaryName, S extends z.ZodType>(name: N, shape: S) =>
  endpoint({
    ...wearable,
    method: 'get',
    path: `/v2/summary/${name}/{user_id}/raw`,
    summary: `Read ${name.replaceAll('_', ' ')} as the source sent it`,
    params: UserId,
    query: z.object(window),
    returns: listOf(name, shape),
    refusals: unknownUser,
  })

const AnySummary = z.union(Object.values(newSummaries))

const NewSummaries = z
  .object({
    ...pushed,
    data: z.unknown().meta({
      ...documented(z.union([AnySummary, z.array(AnySummary)])),
      description: 'One summary or a list of them, of the shape that the resource has.',
    }),
  })
  .meta({ id: 'NewSummaries' })

function documented(shape: z.ZodType) {
  const { $schema, ...schema } = toSchema(shape, 'input')
  return schema
}

const noProfile = { 404: 'No such user, or no source has told of a profile yet.' }

export const summaryEndpoints = {
  pushSummaries: endpoint({
    ...wearable,
    method: 'post',
    path: '/v2/summary/{resource}/{user_id}',
    summary: 'Push summaries of a resource',
    description:
      'A summary has the id that follows from its user, its source and what it is of, so that what is sent again replaces. Samples that come along are kept as samples. The body may be compressed with gzip.',
    largeBody: true,
    userToken: true,
    params: z.object({ resource: z.enum(summaryNames, `Must be one of ${summaryNames.join(', ')}.`), user_id: Id }),
    body: NewSummaries,
    returns: Taken,
    refusals: { 400: 'The source was disconnected.', ...unknownUser, 413: 'The body is too large.' },
  }),
  listActivity: listed('activity', 'activity'),
  listSleep: listed('sleep', 'sleep'),
  listSleepCycles: listed('sleep_cycle', 'sleep_cycle'),
  listWorkouts: listed('workouts', 'workouts'),
  listBody: listed('body', 'body'),
  listMeals: listed('meal', 'meals'),
  listMenstrualCycles: listed('menstrual_cycle', 'menstrual_cycle'),
  listElectrocardiograms: listed('electrocardiogram', 'electrocardiogram'),
  getProfile: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/profile/{user_id}',
    summary: 'Read the profile',
    description: 'Of one source, or the one that was changed last.',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: shapeOf('profile'),
    refusals: noProfile,
  }),
  listRawActivity: raw('activity', Raw),
  listRawSleep: raw('sleep', Raw),
  listRawWorkouts: raw('workouts', Raw.extend({ sport_id: z.int(), sport: Sport })),
  listRawBody: raw('body', Raw),
  getRawProfile: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/profile/{user_id}/raw',
    summary: 'Read the profile as the source sent it',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: z.object({ profile: Raw }),
    refusals: noProfile,
  }),
  listRawDevices: endpoint({
    ...wearable,
    method: 'get',
    path: '/v2/summary/devices/{user_id}/raw',
    summary: 'Read the devices that data came from',
    params: UserId,
    query: z.object({ provider: ProviderFilter }),
    returns: z.object({
      devices: z.array(
        z.object({ id: Id, user_id: Id, data: personal(z.looseObject({})), provider_id: Safe, source_id: z.int(), source: Provider }),
      ),
    }),
    refusals: unknownUser,
  }),
}
