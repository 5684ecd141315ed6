import { api } from '../../api.ts'

type UserPage = Awaited<ReturnType<typeof api.listUsers>>
export type User = UserPage['users'][number]

/** Searches by ID prefix, name, birth date and contact. Returns all users for a text under two characters. */
export async function findUsers(text: string, offset: number, limit: number): Promise<{ users: User[]; total: number | null }> {
  if (text.length < 2) {
    const { users, total } = await api.listUsers({ query: { offset, limit } })
    return { users, total }
  }
  const [byId, byName] = await Promise.all([api.searchUsers({ query: { query_id: text } }), api.findPeople({ body: { query: text } })])
  const users = [...byId, ...byName.filter(({ user_id }) => !byId.some((user) => user.user_id === user_id))]
  return { users: users.slice(0, limit), total: null }
}
