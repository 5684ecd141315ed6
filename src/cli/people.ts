import { Email, Id, personRoles } from '../contract/common.ts'
import type { App } from '../platform/app.ts'
import type { ManagementCaller } from '../platform/callers.ts'
import { deleteMember, listMembers } from '../tenants/people/actions.ts'
import { createInvite } from '../tenants/people/invitations.ts'
import { fetchAllPages } from './all-pages.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { chooseOrg } from './org.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

const org = { value: 'ID', what: 'Organization. Optional if there is only one.' } as const

export const invitePerson = command({
  name: 'people invite',
  summary: 'Invite a person to the console and print the link once.',
  options: {
    email: { value: 'ADDRESS', what: 'Email address of the person.', shape: Email, required: true },
    role: { value: 'ROLE', what: 'Role of the person.', oneOf: personRoles, fallback: 'read_only' },
    team: { value: 'ID', what: 'Team that the role applies to.', shape: Id },
    org,
  },
  async run({ email, role, team, org, json }) {
    const team_role_bindings = team === undefined ? null : [{ team_id: team }]
    const invite = await withApp(async (app) => {
      const operator = await asOperator(app, org)
      return recordOperator(
        app,
        'invite person',
        (app) => createInvite(app, operator, { email, role, team_role_bindings }),
        ({ id }) => (id ? `invite_id:${id}` : `org_id:${operator.org_id}`),
      )
    })
    print(json, invite, [invite.link ?? 'This person is already a member of the organization.'])
  },
})

export const listPeople = command({
  name: 'people list',
  summary: 'List the members of an organization with their roles.',
  options: { org },
  async run({ org, json }) {
    const members = await withApp(async (app) => listAllMembers(app, await asOperator(app, org)))
    print(
      json,
      members,
      listing(
        ['PERSON ID', 'ROLE', 'NAME', 'EMAIL', 'LAST SIGNED IN'],
        members.map(({ id, role, name, email, last_sign_in_at }) => [id, role, name, email, last_sign_in_at ?? 'never']),
      ),
    )
  },
})

async function listAllMembers(app: App, operator: ManagementCaller) {
  const pages = await fetchAllPages((query) => listMembers(app, operator, query))
  return pages.flatMap(({ members }) => members)
}

export const removePerson = command({
  name: 'people remove',
  summary: 'Remove a person and end their console sessions.',
  options: { id: { value: 'ID', what: 'Person ID from assay people list.', shape: Id, required: true }, org },
  async run({ id, org, json }) {
    await withApp(async (app) => {
      const operator = await asOperator(app, org)
      await recordOperator(
        app,
        'remove person',
        (app) => deleteMember(app, operator, id),
        () => `person_id:${id}`,
      )
    })
    print(json, { removed: id }, [`removed ${id}`])
  },
})

async function asOperator(app: App, org: string | undefined): Promise<ManagementCaller> {
  const org_id = await chooseOrg(app, org)
  return { kind: 'management', org_id, key_id: null, plan: 'scale', team_ids: undefined }
}
