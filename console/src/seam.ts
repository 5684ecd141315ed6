/** What the server's side of sessions answers, until its rows stand in the contract. */
export type SeamSession = {
  id: string
  kind: string
  role: string
  person: { id: string; email: string; name: string } | null
  org: { id: string; name: string; plan: string }
  teams: { team_id: string; name: string }[]
  team_id: string | null
  environment: string
  region: string
  capabilities: string[]
  idle_ends_at: string
  ends_at: string
}
export type SeamClient = {
  getSession: () => Promise<SeamSession>
  beginSession: (sent: {
    body: { management_key?: string; team_api_key?: string; email?: string; password?: string; code?: string }
  }) => Promise<SeamSession>
  endSession: () => Promise<void>
}
export const seamRows: Record<string, [string, string, string?]> = {
  getSession: ['get', '/console/session'],
  beginSession: ['post', '/console/session'],
  endSession: ['delete', '/console/session'],
}
