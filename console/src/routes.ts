import type { ComponentType } from 'preact'
import type { Params } from './router.tsx'
import type { IconName } from './ui/icons.tsx'

export type PageProps = { params: Params }
type Page = ComponentType<PageProps>

export type Route = { path: string; load: () => Promise<Page> }

/** Every view has an address; what a view needs is loaded when it is first opened. */
export const routes: Route[] = [
  { path: '/', load: () => import('./pages/overview/overview.tsx').then(({ Overview }) => Overview) },
  { path: '/orders', load: () => import('./pages/orders/list.tsx').then(({ Orders }) => Orders) },
  { path: '/orders/new', load: () => import('./pages/orders/place.tsx').then(({ PlaceOrder }) => PlaceOrder) },
  { path: '/orders/:order_id', load: () => import('./pages/orders/detail.tsx').then(({ OrderDetail }) => OrderDetail) },
  { path: '/users', load: () => import('./pages/users/list.tsx').then(({ Users }) => Users) },
  { path: '/users/:user_id', load: () => import('./pages/users/detail.tsx').then(({ UserDetail }) => UserDetail) },
  { path: '/webhooks', load: () => import('./pages/webhooks/list.tsx').then(({ Webhooks }) => Webhooks) },
  { path: '/webhooks/:webhook_id', load: () => import('./pages/webhooks/detail.tsx').then(({ WebhookDetail }) => WebhookDetail) },
  {
    path: '/webhooks/:webhook_id/attempts/:attempt_id',
    load: () => import('./pages/webhooks/attempt.tsx').then(({ AttemptDetail }) => AttemptDetail),
  },
  { path: '/events', load: () => import('./pages/events/catalogue.tsx').then(({ EventCatalogue }) => EventCatalogue) },
  { path: '/events/:event_type', load: () => import('./pages/events/type.tsx').then(({ EventTypePage }) => EventTypePage) },
  { path: '/inbox', load: () => import('./pages/events/inbox.tsx').then(({ Inbox }) => Inbox) },
  { path: '/lab-tests', load: () => import('./pages/team/lab-tests.tsx').then(({ LabTests }) => LabTests) },
  { path: '/lab-tests/:lab_test_id', load: () => import('./pages/team/lab-test.tsx').then(({ LabTestDetail }) => LabTestDetail) },
  { path: '/settings', load: () => import('./pages/team/settings.tsx').then(({ Settings }) => Settings) },
  { path: '/keys', load: () => import('./pages/team/keys.tsx').then(({ TeamKeys }) => TeamKeys) },
  { path: '/organisation', load: () => import('./pages/org/teams.tsx').then(({ Teams }) => Teams) },
  { path: '/organisation/people', load: () => import('./pages/org/people.tsx').then(({ People }) => People) },
  { path: '/organisation/keys', load: () => import('./pages/org/keys.tsx').then(({ ManagementKeys }) => ManagementKeys) },
  { path: '/organisation/lab-accounts', load: () => import('./pages/org/lab-accounts.tsx').then(({ LabAccounts }) => LabAccounts) },
  { path: '/organisation/audit', load: () => import('./pages/org/audit.tsx').then(({ AuditLog }) => AuditLog) },
]

/** The page for somebody who is not signed in yet. */
export const isInvitation = (path: string) => path === '/invitation'

type Place = { to: string; name: string; icon: IconName; key?: string; org?: true; sandbox?: true }

export const places: { title?: string; of: Place[] }[] = [
  {
    of: [
      { to: '/', name: 'Overview', icon: 'overview', key: 'h' },
      { to: '/orders', name: 'Orders', icon: 'orders', key: 'o' },
      { to: '/users', name: 'Users', icon: 'users', key: 'u' },
      { to: '/webhooks', name: 'Webhooks', icon: 'webhooks', key: 'w', org: true },
      { to: '/events', name: 'Event types', icon: 'events', key: 'e' },
      { to: '/inbox', name: 'Sandbox inbox', icon: 'inbox', key: 'i', sandbox: true },
    ],
  },
  {
    title: 'Team',
    of: [
      { to: '/lab-tests', name: 'Lab tests', icon: 'tests', key: 't' },
      { to: '/keys', name: 'API keys', icon: 'keys', key: 'k', org: true },
      { to: '/settings', name: 'Settings', icon: 'settings', key: 's', org: true },
    ],
  },
  {
    title: 'Organisation',
    of: [
      { to: '/organisation', name: 'Teams', icon: 'teams', org: true },
      { to: '/organisation/people', name: 'People', icon: 'people', key: 'p', org: true },
      { to: '/organisation/keys', name: 'Management keys', icon: 'keys', org: true },
      { to: '/organisation/lab-accounts', name: 'Lab accounts', icon: 'accounts', org: true },
      { to: '/organisation/audit', name: 'Audit log', icon: 'audit', key: 'a', org: true },
    ],
  },
]
