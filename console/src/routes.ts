import type { ComponentType } from 'preact'
import type { Capability } from '../../src/contract/tenants/sessions.ts'
import type { Params } from './router.tsx'
import type { IconName } from './ui/icons.tsx'

export type PageProps = { params: Params }
type Page = ComponentType<PageProps>

export type Route = { path: string; load: () => Promise<Page> }

/** Each page loads its code when it is first opened. */
export const routes: Route[] = [
  { path: '/', load: () => import('./pages/overview/overview.tsx').then(({ Overview }) => Overview) },
  { path: '/orders', load: () => import('./pages/orders/list.tsx').then(({ Orders }) => Orders) },
  { path: '/orders/new', load: () => import('./pages/orders/place-order.tsx').then(({ PlaceOrder }) => PlaceOrder) },
  { path: '/orders/:order_id', load: () => import('./pages/orders/detail.tsx').then(({ OrderDetail }) => OrderDetail) },
  { path: '/users', load: () => import('./pages/users/list.tsx').then(({ Users }) => Users) },
  { path: '/users/:user_id', load: () => import('./pages/users/detail.tsx').then(({ UserDetail }) => UserDetail) },
  { path: '/users/:user_id/data', load: () => import('./pages/users/data.tsx').then(({ UserData }) => UserData) },
  { path: '/webhooks', load: () => import('./pages/webhooks/list.tsx').then(({ Webhooks }) => Webhooks) },
  { path: '/webhooks/:webhook_id', load: () => import('./pages/webhooks/detail.tsx').then(({ WebhookDetail }) => WebhookDetail) },
  {
    path: '/webhooks/:webhook_id/attempts/:attempt_id',
    load: () => import('./pages/webhooks/attempt.tsx').then(({ AttemptDetail }) => AttemptDetail),
  },
  { path: '/events', load: () => import('./pages/events/catalog.tsx').then(({ EventCatalog }) => EventCatalog) },
  { path: '/events/:event_type', load: () => import('./pages/events/type.tsx').then(({ EventTypePage }) => EventTypePage) },
  { path: '/inbox', load: () => import('./pages/events/inbox.tsx').then(({ Inbox }) => Inbox) },
  { path: '/lab-tests', load: () => import('./pages/team/lab-tests.tsx').then(({ LabTests }) => LabTests) },
  { path: '/lab-tests/new', load: () => import('./pages/team/new-lab-test.tsx').then(({ NewLabTest }) => NewLabTest) },
  { path: '/lab-tests/:lab_test_id', load: () => import('./pages/team/lab-test.tsx').then(({ LabTestDetail }) => LabTestDetail) },
  { path: '/messages', load: () => import('./pages/team/messages.tsx').then(({ Messages }) => Messages) },
  { path: '/kits', load: () => import('./pages/kits/kits.tsx').then(({ Kits }) => Kits) },
  { path: '/lab-connections', load: () => import('./pages/labs/connections.tsx').then(({ LabConnections }) => LabConnections) },
  { path: '/lab-connections/:message_id', load: () => import('./pages/labs/message.tsx').then(({ LabMessageDetail }) => LabMessageDetail) },
  { path: '/unmatched-results', load: () => import('./pages/labs/unmatched.tsx').then(({ UnmatchedResults }) => UnmatchedResults) },
  {
    path: '/unmatched-results/:raw_result_id',
    load: () => import('./pages/labs/unmatched-result.tsx').then(({ UnmatchedResultDetail }) => UnmatchedResultDetail),
  },
  { path: '/schedule', load: () => import('./pages/schedule/schedule.tsx').then(({ Schedule }) => Schedule) },
  { path: '/schedule/:calendar_code', load: () => import('./pages/schedule/day.tsx').then(({ ScheduleDay }) => ScheduleDay) },
  { path: '/pipelines', load: () => import('./pages/team/pipelines.tsx').then(({ Pipelines }) => Pipelines) },
  {
    path: '/connections',
    load: () => import('./pages/connections/connections.tsx').then(({ SourceConnections }) => SourceConnections),
  },
  { path: '/sources', load: () => import('./pages/team/credentials.tsx').then(({ Credentials }) => Credentials) },
  { path: '/settings', load: () => import('./pages/team/settings.tsx').then(({ Settings }) => Settings) },
  { path: '/keys', load: () => import('./pages/team/keys.tsx').then(({ TeamKeys }) => TeamKeys) },
  { path: '/organization', load: () => import('./pages/org/teams.tsx').then(({ Teams }) => Teams) },
  { path: '/organization/people', load: () => import('./pages/org/people.tsx').then(({ People }) => People) },
  { path: '/organization/keys', load: () => import('./pages/org/keys.tsx').then(({ ManagementKeys }) => ManagementKeys) },
  { path: '/organization/lab-accounts', load: () => import('./pages/org/lab-accounts.tsx').then(({ LabAccounts }) => LabAccounts) },
  {
    path: '/organization/lab-connections',
    load: () => import('./pages/labs/connections.tsx').then(({ OperatedLabConnections }) => OperatedLabConnections),
  },
  {
    path: '/organization/unassigned-results',
    load: () => import('./pages/labs/unassigned.tsx').then(({ UnassignedResults }) => UnassignedResults),
  },
  { path: '/organization/audit', load: () => import('./pages/org/audit.tsx').then(({ AuditLog }) => AuditLog) },
  { path: '/account', load: () => import('./pages/account/account.tsx').then(({ Account }) => Account) },
]

export const isInvitation = (path: string) => path === '/invitation'

export type NavItem = {
  to: string
  name: string
  icon: IconName
  /** Pressing `g` and then this key opens the page. */
  key?: string
  /** Hidden in a session signed in with a team key. */
  org?: true
  sandbox?: true
  /** The capability that the page needs. */
  needs?: Capability
}

export const navGroups: { title?: string; items: NavItem[] }[] = [
  {
    items: [
      { to: '/', name: 'Overview', icon: 'overview', key: 'h' },
      { to: '/orders', name: 'Orders', icon: 'orders', key: 'o' },
      { to: '/users', name: 'Users', icon: 'users', key: 'u' },
      { to: '/webhooks', name: 'Webhooks', icon: 'webhooks', key: 'w', org: true, needs: 'team.read' },
      { to: '/events', name: 'Event types', icon: 'events', key: 'e' },
      { to: '/inbox', name: 'Sandbox inbox', icon: 'inbox', key: 'i', sandbox: true },
    ],
  },
  {
    title: 'Team',
    items: [
      { to: '/lab-tests', name: 'Lab tests', icon: 'tests', key: 't' },
      { to: '/messages', name: 'Messages', icon: 'mail', key: 'm' },
      { to: '/lab-connections', name: 'Lab connections', icon: 'pipelines' },
      { to: '/unmatched-results', name: 'Unmatched results', icon: 'search' },
      { to: '/schedule', name: 'Schedule', icon: 'clock' },
      { to: '/kits', name: 'Kits', icon: 'kits' },
      { to: '/pipelines', name: 'Pipelines', icon: 'pipelines', key: 'l', org: true, needs: 'team.read' },
      { to: '/connections', name: 'Connections', icon: 'pulse', key: 'c' },
      { to: '/sources', name: 'Source credentials', icon: 'sources', org: true, needs: 'team.manage' },
      { to: '/keys', name: 'API keys', icon: 'keys', key: 'k', org: true, needs: 'team.manage' },
      { to: '/settings', name: 'Settings', icon: 'settings', key: 's', org: true, needs: 'team.read' },
    ],
  },
  {
    title: 'Organization',
    items: [
      { to: '/organization', name: 'Teams', icon: 'teams', org: true, needs: 'team.read' },
      { to: '/organization/people', name: 'People', icon: 'people', key: 'p', org: true, needs: 'org.manage' },
      { to: '/organization/keys', name: 'Management keys', icon: 'keys', org: true, needs: 'org.manage' },
      { to: '/organization/lab-accounts', name: 'Lab accounts', icon: 'accounts', org: true, needs: 'team.read' },
      { to: '/organization/audit', name: 'Audit log', icon: 'audit', key: 'a', org: true, needs: 'audit.read' },
    ],
  },
  {
    title: 'Deployment',
    items: [
      { to: '/organization/lab-connections', name: 'All lab connections', icon: 'pipelines', org: true, needs: 'deployment.operate' },
      { to: '/organization/unassigned-results', name: 'Results without a team', icon: 'search', org: true, needs: 'deployment.operate' },
    ],
  },
]
