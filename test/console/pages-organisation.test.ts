import { test } from 'vitest'
import { named, widths, without } from '../support/console-page.ts'
import { tour } from '../support/console-tour.ts'
import { world } from '../support/world.ts'

const one = await world()
const tenant = await one.tenant({ team: 'Harbour Clinic' })

test.skipIf(without).each(widths)(
  named('on %s pages about the team and the organisation keep nobody out, fit, and ask nobody else'),
  async (_, width) => {
    await tour(one.base, tenant, width, [
      { name: 'overview-empty', path: '/', shows: 'Begin here' },
      { name: 'orders-empty', path: '/orders', shows: 'No orders yet' },
      { name: 'event-types', path: '/events', shows: 'labtest.order.created' },
      { name: 'event-type', path: '/events/labtest.order.updated', shows: 'JSON Schema' },
      { name: 'inbox', path: '/inbox', shows: 'Nothing came yet' },
      { name: 'lab-tests', path: '/lab-tests', shows: 'Essential Wellness' },
      { name: 'keys', path: '/keys', shows: 'Read and write' },
      { name: 'settings', path: '/settings', shows: 'Switches' },
      { name: 'teams', path: '/organisation', shows: 'Harbour Clinic' },
      { name: 'people', path: '/organisation/people', shows: 'Nobody yet' },
      { name: 'management-keys', path: '/organisation/keys', shows: 'Org admin' },
      { name: 'lab-accounts', path: '/organisation/lab-accounts', shows: /account/i },
      { name: 'audit', path: '/organisation/audit', shows: 'The chain is intact' },
    ])
  },
)
