import type { Client } from '../contract/client.ts'
import { DayIn, Id, Text } from '../contract/common.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { usageError } from './options.ts'
import { asTeam, Count, serviceOptions } from './service.ts'

type User = Awaited<ReturnType<Client['getUser']>>

const linesOf = (users: User[], footer = '') =>
  listing(
    ['USER ID', 'CREATED', 'CLIENT USER ID', 'SOURCES'],
    users.map(({ user_id, created_on, client_user_id, connected_sources: sources }) => [
      user_id,
      created_on,
      client_user_id,
      sources.map(({ provider }) => provider.slug).join(', '),
    ]),
    footer,
  )

export const listUsers = command({
  name: 'users list',
  summary: 'List the users of the team, newest first.',
  options: {
    ...serviceOptions,
    limit: { value: 'N', what: 'Maximum number of users.', shape: Count, fallback: '50' },
    offset: { value: 'N', what: 'Number of users to skip.', shape: Count, fallback: '0' },
  },
  async run({ limit, offset, json, ...access }) {
    const page = await asTeam(access).api.listUsers({ query: { limit, offset } })
    print(json, page, linesOf(page.users, `${page.users.length} of ${page.total}`))
  },
})

export const createUser = command({
  name: 'users create',
  summary: 'Create a user and print its user_id.',
  options: {
    ...serviceOptions,
    'client-user-id': {
      value: 'TEXT',
      what: 'Your own ID for the user. It must not contain personal data, such as an email address.',
      required: true,
    },
    'time-zone': { value: 'ZONE', what: 'IANA time zone for wearable data without one.', shape: Text(64) },
    'birth-date': { value: 'DATE', what: 'Birth date for wearable sources without one.', shape: DayIn },
  },
  examples: ['assay users create --client-user-id patient-17 --time-zone America/New_York'],
  async run({ json, 'client-user-id': client_user_id, 'time-zone': zone, 'birth-date': birth, ...access }) {
    const body = { client_user_id, fallback_time_zone: zone ?? null, fallback_birth_date: birth ?? null }
    const user = await asTeam(access).api.createUser({ body })
    print(json, user, [user.user_id])
  },
})

const userOptions = {
  id: { value: 'ID', what: 'user_id of the user.', shape: Id },
  'client-user-id': { value: 'TEXT', what: 'Your own ID for the user, instead of --id.' },
} as const

type UserOptions = { id: string | undefined; 'client-user-id': string | undefined }

async function findUser(api: Client, { id, 'client-user-id': client_user_id }: UserOptions) {
  if ((id === undefined) === (client_user_id === undefined)) throw usageError('Pass either --id or --client-user-id.')
  return id === undefined
    ? api.resolveUser({ params: { client_user_id: client_user_id as string } })
    : api.getUser({ params: { user_id: id } })
}

export const showUser = command({
  name: 'users show',
  summary: 'Show a user and their orders, without demographics.',
  options: { ...serviceOptions, ...userOptions },
  async run({ json, ...access }) {
    const { api } = asTeam(access)
    const user = await findUser(api, access)
    const { orders, total } = await api.listOrders({ query: { user_id: user.user_id } })
    const steps = orders.map(({ id, created_at, last_event }) => ({ id, created_at, status: last_event.status }))
    print(json, { ...user, orders: steps, number_of_orders: total }, [
      ...linesOf([user]),
      ...steps.map(({ id, created_at, status }) => `  order ${id}  ${created_at}  ${status}`),
    ])
  },
})

export const deleteUser = command({
  name: 'users delete',
  summary: 'Delete a user. API requests stop returning the user immediately. The user is erased after 7 days.',
  options: { ...serviceOptions, ...userOptions },
  async run({ json, ...access }) {
    const { api } = asTeam(access)
    const { user_id } = await findUser(api, access)
    await api.deleteUser({ params: { user_id } })
    print(json, { deleted: user_id }, [`deleted ${user_id}; restore within 7 days with: assay users undelete --id ${user_id}`])
  },
})

export const undeleteUser = command({
  name: 'users undelete',
  summary: 'Restore a deleted user within 7 days.',
  options: { ...serviceOptions, id: { ...userOptions.id, required: true } },
  async run({ id, json, ...access }) {
    await asTeam(access).api.undoDeleteUser({ query: { user_id: id } })
    print(json, { undeleted: id }, [`undeleted ${id}`])
  },
})
