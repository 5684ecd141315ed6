import { z } from 'zod'
import {
  AddressIn,
  AddressOut,
  Day,
  DayIn,
  DayOrInstant,
  Email,
  ethnicities,
  GuarantorIn,
  GuarantorOut,
  genderIdentities,
  genders,
  Id,
  Instant,
  NoContent,
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
  description: 'Your own ID for the user, unique within the team. Do not use an email address or phone number.',
  example: 'patient-17',
})

const userSettings = {
  fallback_time_zone: Text(64).nullish().meta({
    description:
      'An IANA time zone for sources that send none. If you set none, the first source that sends one sets it and keeps it current. `source_slug` names that source.',
    example: 'Europe/Berlin',
  }),
  fallback_birth_date: DayIn.nullish().meta({
    description:
      'Used to compute the maximum heart rate if a source sends no age. If you set none, the profile of a source sets it. `source_slug` names that source.',
    example: '1980-05-04',
  }),
  ingestion_start: DayOrInstant.nullish().meta({
    description: 'Assay drops wearable data before this time. A date means the start of the day in UTC.',
    example: '2026-01-01',
  }),
  ingestion_end: DayOrInstant.nullish().meta({
    description: 'Assay drops wearable data after this time. A date means the end of the day in UTC.',
    example: '2036-12-31',
  }),
}

const NewUser = z.object({ client_user_id: ClientUserId, ...userSettings }).meta({ id: 'NewUser' })
const UserPatch = z.object({ client_user_id: ClientUserId.optional(), ...userSettings }).meta({ id: 'UserPatch' })

const Provider = z.object({ name: Safe, slug: Safe, logo: Safe.describe('The URL of the logo.') }).meta({ id: 'ConnectedProvider' })

export const User = z
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
    dob: DayIn,
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
    insured: z.object({ ...info, gender: z.enum(genders), address: AddressIn, dob: DayIn }).meta({ id: 'InsuredInput' }),
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
    company: z.object({ name: Safe, address: safe(AddressOut) }).describe('The payor, from the catalog.'),
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
export const userNotFound = { 404: 'No such user in this team, or the user is scheduled for deletion.' }

export const userEndpoints = {
  createUser: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user',
    aliases: ['/v2/user/key'],
    summary: 'Create a user',
    subjects: { user_id: 'result.user_id' },
    description: 'If the client_user_id exists, the response is 400 and names the user_id and created_on of the existing user.',
    idempotent: true,
    body: NewUser,
    returns: User,
    refusals: { 400: 'The client_user_id belongs to another user, or looks like personal data.' },
  }),
  listUsers: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user',
    summary: 'List users',
    description: 'Returns the newest users first.',
    subjects: { user_id: 'result.users[].user_id' },
    query: z.object({ offset: z.int().min(0).default(0), limit: z.int().min(1).max(500).default(100) }),
    returns: z.object({ users: z.array(User), total: z.int(), offset: z.int(), limit: z.int() }).meta({ id: 'UserPage' }),
  }),
  getMetrics: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/metrics',
    summary: 'Get team metrics',
    description: 'Counts users, connections and orders of the team.',
    subjects: {},
    returns: Metrics,
  }),
  resolveUser: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/resolve/{client_user_id}',
    aliases: ['/v2/user/key/{client_user_id}'],
    summary: 'Get a user by client_user_id',
    subjects: { user_id: 'result.user_id' },
    params: z.object({ client_user_id: ClientUserId }),
    returns: User,
    refusals: userNotFound,
  }),
  searchUsers: endpoint({
    ...user,
    method: 'get',
    path: '/v2/team/users/search',
    summary: 'Search users by ID',
    description: 'Matches prefixes of user_id and client_user_id.',
    subjects: { user_id: 'result[].user_id' },
    query: z.object({ query_id: z.string().min(2, 'Must have at least 2 characters.').max(255) }),
    returns: z.array(User),
  }),
  findPeople: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/search',
    reads: true,
    summary: 'Search users by personal data',
    subjects: { user_id: 'result[].user_id' },
    description:
      'Searches name, email, phone and birth date. Every word of the query must match the prefix of a word, through a blind index. The query is in the body to keep it out of URLs and access logs. Returns at most 50 users.',
    body: z.object({ query: z.string().min(2, 'Must have at least 2 characters.').max(200) }).meta({ id: 'PeopleQuery' }),
    returns: z.array(User),
  }),
  undoDeleteUser: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/undo_delete',
    summary: 'Undo the deletion of a user',
    description: 'Possible for 7 days after the deletion. Send exactly one of user_id and client_user_id.',
    subjects: { user_id: ['query.user_id', 'result.user_id'] },
    query: z.object({ user_id: Id.nullish(), client_user_id: ClientUserId.nullish() }).describe('Exactly one of the two.'),
    returns: Success,
    refusals: { 404: 'No such user is scheduled for deletion.', 409: 'Another user has the client_user_id now.' },
  }),
  getUser: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}',
    summary: 'Get a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    returns: User,
    refusals: userNotFound,
  }),
  patchUser: endpoint({
    ...user,
    method: 'patch',
    path: '/v2/user/{user_id}',
    summary: 'Update a user',
    subjects: { user_id: 'path.user_id' },
    description: 'Changes only the fields that you send. Null clears a field, except client_user_id.',
    status: 204,
    params: UserId,
    body: UserPatch,
    returns: NoContent,
    refusals: { 400: 'The body has no field to change.', ...userNotFound, 409: 'The client_user_id belongs to another user.' },
  }),
  deleteUser: endpoint({
    ...user,
    method: 'delete',
    path: '/v2/user/{user_id}',
    summary: 'Delete a user',
    subjects: { user_id: 'path.user_id' },
    description:
      'No request can read the user from now on. After 7 days Assay destroys the encryption key of the user and erases all data. Until then you can undo the deletion. Visits that have not begun are canceled, and connections end.',
    params: UserId,
    returns: Success,
    refusals: userNotFound,
  }),
  putUserInfo: endpoint({
    ...user,
    method: 'patch',
    path: '/v2/user/{user_id}/info',
    summary: 'Set the demographics of a user',
    description: 'Replaces the previous demographics. An order for the same name and birth date replaces them too.',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    body: NewUserInfo,
    returns: UserInfo,
    refusals: userNotFound,
  }),
  getUserInfo: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}/info/latest',
    summary: 'Get the demographics of a user',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    returns: UserInfo,
    refusals: { 404: 'No such user, or the user has no demographics yet.' },
  }),
  createInsurance: endpoint({
    ...user,
    method: 'post',
    path: '/v2/user/{user_id}/insurance',
    summary: 'Create an insurance policy for a user',
    description: 'Earlier policies stay on record. Orders with commercial_insurance use the latest primary policy.',
    subjects: { user_id: 'path.user_id' },
    idempotent: true,
    params: UserId,
    body: NewInsurance,
    returns: Insurance,
    refusals: userNotFound,
  }),
  getInsurance: endpoint({
    ...user,
    method: 'get',
    path: '/v2/user/{user_id}/insurance/latest',
    summary: 'Get the insurance of a user',
    description: 'Returns the latest primary insurance, or the latest secondary one if is_primary is false.',
    subjects: { user_id: 'path.user_id' },
    params: UserId,
    query: z.object({ is_primary: z.boolean().default(true) }),
    returns: Insurance,
    refusals: { 404: 'No such user, or the user has no such insurance yet.' },
  }),
}
