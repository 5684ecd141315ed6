import { Id } from '../contract/common.ts'
import { command, print } from './command.ts'
import { lineOf } from './listen.ts'
import { listing } from './listing.ts'
import { asTeam, Count, serviceOptions } from './service.ts'
import { eventsOf } from './stream.ts'

const filters = {
  types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
  user: { value: 'ID', what: 'Only events about this user.', shape: Id },
  order: { value: 'ID', what: 'Only events about this order.', shape: Id },
} as const

export const listEvents = command({
  name: 'events list',
  summary: 'List events, oldest first, and print the cursor to continue from.',
  options: {
    ...serviceOptions,
    ...filters,
    after: { value: 'CURSOR', what: 'Cursor to continue from. Default: the oldest event.' },
    limit: { value: 'N', what: 'Maximum number of events.', shape: Count, fallback: '100' },
  },
  async run({ types, user, order, after, limit, json, ...access }) {
    const event_type = types?.split(',')
    const page = await asTeam(access).api.listEvents({ query: { after, limit, event_type, user_id: user, order_id: order } })
    const rows = page.events.map(({ created_at, event_type, user_id, event_id }) => [created_at, event_type, user_id, event_id])
    print(json, page, listing(['AT', 'TYPE', 'USER ID', 'EVENT ID'], rows, `continue with --after ${page.next_cursor}`))
  },
})

export const tailEvents = command({
  name: 'events tail',
  summary: 'Print events as they happen, until you press Ctrl-C. The command reconnects and continues after an interruption.',
  options: {
    ...serviceOptions,
    ...filters,
    after: { value: 'CURSOR', what: 'Cursor to continue from, or start to read every stored event first.', fallback: 'end' },
    count: { value: 'N', what: 'Exit after this many events.', shape: Count },
  },
  examples: ["assay events tail --types 'labtest.order.*'", 'assay events tail --after start --json | jq .event_type'],
  async run({ types, user, order, after, count = Number.POSITIVE_INFINITY, json, ...access }) {
    const service = asTeam(access)
    let printed = 0
    for await (const event of eventsOf(service, { after, types, user_id: user, order_id: order })) {
      console.log(json ? JSON.stringify({ ...event.envelope, cursor: event.cursor }) : lineOf(event))
      if (++printed >= count) return
    }
  },
})
