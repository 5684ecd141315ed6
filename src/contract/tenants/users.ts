import { z } from 'zod'
import {
  AddressIn,
  AddressOut,
  Day,
  Email,
  ethnicities,
  GuarantorIn,
  GuarantorOut,
  genderIdentities,
  genders,
  Id,
  Instant,
  InstantIn,
  Nothing,
  openEnum,
  races,
  Success,
  sexualOrientations,
  Text,
} from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonEmail, PersonName, PersonPhone, personal, Safe, safe } from '../personal.ts'

const UserId = z.object({ user_id: Id })

const ClientUserId = Text(255).meta({
  description: 'Your own id of the user. Unique within the team; never an e-mail address or phone number.',
  example: 'patient-17',
})
const Bound = z.union([Day, InstantIn], { error: 'Must be a date (YYYY-MM-DD) or a date-time with a zone.' })

const settable = {
  fallback_time_zone: Text(64).nullish().meta({
    description:
      'IANA time zone; used for sources that carry none. Where you set none, the first source that names one does, and keeps it up to date; source_slug tells.',
    example: 'Europe/Berlin',
  }),
  fallback_birth_date: Day.nullish().meta({
    description:
      'Used to compute the maximum heart rate where a source gives no age. Where you set none, the profile of a source does; source_slug tells.',
    example: '1980-05-04',
  }),
  ingestion_start: Bound.nullish().meta({
    description: 'Data before this is not taken in. A date means its first moment in UTC.',
    example: '2026-01-01',
  }),
  ingestion_end: Bound.nullish().meta({
    description: 'Data after this is not taken in. A date means its last moment in UTC.',
    example: '2036-12-31',
  }),
}

const NewUser = z.object({ client_user_id: ClientUserId, ...settable }).meta({ id: 'NewUser' })
const UserPatch = z.object({ client_user_id: ClientUserId.optional(), ...settable }).meta({ id: 'UserPatch' })

const Provider = z.object({ name: Safe, slug: Safe, logo: Safe.describe('Address of the logo.') }).meta({ id: 'ConnectedProvider' })

const User = z
  .object({
    user_id: Id,
    team_id: Id,
    client_user_id: Safe,
    created_on: Instant,
    connected_sources: z.array(
      z.object({
        created_on: Instant,
        provider: Provider,
        source: deprecated(Provider, 'Use `provider`.'),
      }),
    ),
    fallback_time_zone: z.object({ id: Safe, source_slug: Safe, updated_at: Instant }).nullable(),
    fallback_birth_date: z.object({ value: personal(Day, 'date'), source_slug: Safe, updated_at: Instant }).nullable(),
    ingestion_start: Instant.nullable(),
    ingestion_end: Instant.nullable(),
  })
  .meta({ id: 'User' })

const info = { first_name: Text(100), last_name: Text(100), email: Email, phone_number: Text(40) }

export const NewUserInfo = z
  .object({
    ...info,
    gender: z.enum(genders),
    dob: Day,
    address: AddressIn,
    medical_proxy: GuarantorIn.nullish(),
    race: z.enum(races).nullish(),
    ethnicity: z.enum(ethnicities).nullish(),
    sexual_orientation: z.enum(sexualOrientations).nullish(),
    gender_identity: z.enum(genderIdentities).nullish(),
  })
  .meta({ id: 'NewUserInfo' })

const UserInfo = z
  .object({
    first_name: PersonName,
    last_name: PersonName,
    email: PersonEmail,
    phone_number: PersonPhone,
    gender: openEnum(genders),
    dob: personal(Day, 'date'),
    address: AddressOut,
    medical_proxy: GuarantorOut.nullish(),
    race: personal(openEnum(races)).nullish(),
    ethnicity: personal(openEnum(ethnicities)).nullish(),
    sexual_orientation: personal(openEnum(sexualOrientations)).nullish(),
    gender_identity: personal(openEnum(genderIdentities)).nullish(),
  })
  .meta({ id: 'UserInfo' })

export const relationships = ['Self', 'Spouse', 'Other'] as const

export const NewInsurance = z
  .object({
    payor_code: Text(100),
    member_id: Text(100),
    group_id: z.string().max(100).nullish(),
    relationship: z.enum(relationships),
    insured: z.object({ ...info, gender: z.enum(genders), address: AddressIn, dob: Day }).meta({ id: 'InsuredInput' }),
    guarantor: GuarantorIn.nullish(),
    is_primary: z.boolean().default(true),
  })
  .meta({ id: 'NewInsurance' })

const Insurance = z
  .object({
    member_id: PersonalText,
    payor_code: Safe,
    relationship: openEnum(relationships),
    insured: z
      .object({
        first_name: PersonName,
        last_name: PersonName,
        gender: Safe,
        address: AddressOut,
        dob: personal(Day, 'date'),
        email: PersonEmail,
        phone_number: PersonPhone,
      })
      .meta({ id: 'Insured' }),
    company: z.object({ name: Safe, address: safe(AddressOut) }).describe('The payor, from the catalogue.'),
    group_id: PersonalText.nullish(),
    guarantor: GuarantorOut.nullish(),
    is_primary: z.boolean(),
  })
  .meta({ id: 'Insurance' })

const Metrics = z
  .object({
    team_id: Id,
    number_of_connected_sources: z.int(),
    number_of_users: z.int(),
    number_of_errored_connected_sources: z.int(),
    number_of_connected_sources_by_week: z.array(z.object({ date: Instant, value: z.number(), all: z.number() })),
    number_of_ordered_tests: z.int(),
  })
  .meta({ id: 'Metrics' })

const user = { auth: 'team', tag: 'Users' } as const
const unknown = { 404: 'No such user in this team, or the user is scheduled for deletion.' }

export const userEndpoints = {
  createUser: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user',
    aliases: ['/v2/user/'],
    summary: 'Create a user',
    subjects: { user_id: 'result.user_id' },
    description:
      'A client_user_id that exists answers 400 with the user_id and created_on of the existing user, so that creating twice is safe.',
    idempotent: true,
    body: NewUser,
    returns: User,
    refusals: { 400: 'The client_user_id belongs to another user, or looks like personal data.' },
  }),
  listUsers: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user',
    aliases: ['/v2/user/'],
    summary: 'List users, newest first',
    subjects: { user_id: 'result.users[].user_id' },
    query: z.object({ offset: z.int().min(0).default(0), limit: z.int().min(1).max(500).default(100) }),
    returns: z.object({ users: z.array(User), total: z.int(), offset: z.int(), limit: z.int() }).meta({ id: 'UserPage' }),
  }),
  getMetrics: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/metrics',
    summary: 'Count users, connections and orders',
    subjects: {},
    returns: Metrics,
  }),
  resolveUser: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/resolve/{client_user_id}',
    summary: 'Find a user by your own id',
    subjects: { user_id: 'result.user_id' },
    params: z.object({ client_user_id: ClientUserId }),
    returns: User,
    refusals: unknown,
  }),
  searchUsers: endpoint({
    ...user,
    method: 'get',
    path: '/v2/team/users/search',
    summary: 'Find users by the beginning of their user_id or client_user_id',
    subjects: { user_id: 'result[].user_id' },
    query: z.object({ query_id: z.string().min(2, 'Must have at least 2 characters.').max(255) }),
    returns: z.array(User),
  }),
  findPeople: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/search',
    reads: true,
    summary: 'Find users by name, e-mail, phone or birth date',
    subjects: { user_id: 'result[].user_id' },
    description:
      'Matches the beginnings of words of the recorded demographics through a blind index; every word must match. The words travel in the body, so they stay out of URLs and access logs. At most 50 users are answered.',
    body: z.object({ query: z.string().min(2, 'Must have at least 2 characters.').max(200) }).meta({ id: 'PeopleQuery' }),
    returns: z.array(User),
  }),
  undoDeleteUser: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/undo_delete',
    summary: 'Undo the deletion of a user within its 7 days of grace',
    subjects: { user_id: ['query.user_id', 'result.user_id'] },
    query: z.object({ user_id: Id.nullish(), client_user_id: ClientUserId.nullish() }).describe('Exactly one of the two.'),
    returns: Success,
    refusals: { 404: 'No such user awaits deletion.', 409: 'Another user has taken the client_user_id since.' },
  }),
  getUser: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}',
    summary: 'Get a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    returns: User,
    refusals: unknown,
  }),
  patchUser: endpoint({
    ...user,
    method: 'patch',
    path: '/v2/user/{user_id}',
    summary: 'Change a user',
    subjects: { user_id: 'path.user_id' },
    description: 'Only the fields that are sent change; null clears one. client_user_id cannot be cleared.',
    status: 204,
    params: UserId,
    body: UserPatch,
    returns: Nothing,
    refusals: { 400: 'Nothing to patch.', ...unknown, 409: 'The client_user_id belongs to another user.' },
  }),
  deleteUser: endpoint({
    ...user,
    method: 'delete',
    path: '/v2/user/{user_id}',
    summary: 'Delete a user',
    subjects: { user_id: 'path.user_id' },
    description: 'The user is gone at once for every call; after 7 days the user and everything that belongs to it is erased for good.',
    params: UserId,
    returns: Success,
    refusals: unknown,
  }),
  putUserInfo: endpoint({
    ...user,
    method: 'patch',
    path: '/v2/user/{user_id}/info',
    summary: 'Record the demographics of a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    body: NewUserInfo,
    returns: UserInfo,
    refusals: unknown,
  }),
  getUserInfo: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}/info/latest',
    summary: 'Get the latest demographics of a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    returns: UserInfo,
    refusals: { 404: 'No such user, or no demographics recorded yet.' },
  }),
  createInsurance: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/{user_id}/insurance',
    summary: 'Record an insurance of a user',
    subjects: { user_id: 'path.user_id' },
    idempotent: true,
    params: UserId,
    body: NewInsurance,
    returns: Insurance,
    refusals: unknown,
  }),
  getInsurance: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}/insurance/latest',
    summary: 'Get the latest insurance of a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    query: z.object({ is_primary: z.boolean().default(true) }),
    returns: Insurance,
    refusals: { 404: 'No such user, or no such insurance recorded yet.' },
  }),
}
