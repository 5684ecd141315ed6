import { Id } from '../contract/common.ts'
import { command, print } from './command.ts'
import { lineOf } from './listen.ts'
import { listing } from './listing.ts'
import { asTeam, reach } from './service.ts'
import { eventsOf } from './stream.ts'
import { Count } from './users.ts'

const wanted = {
  types: { value: 'TYPE,TYPE*', what: 'Only these event types.' },
  user: { value: 'ID', what: 'Only what is about a user.', shape: Id },
  order: { value: 'ID', what: 'Only what is about an order.', shape: Id },
} as const

export const listEvents = command({
  name: 'events list',
  summary: 'Read the event log from a place on, oldest first, and say where to go on.',
  options: {
    ...reach,
    ...wanted,
    after: { value: 'CURSOR', what: 'What comes after it; from the oldest event unless given.' },
    limit: { value: 'N', what: 'How many.', shape: Count, fallback: '100' },
  },
  async run({ types, user, order, after, limit, json, ...given }) {
    const event_type = types?.split(',')
    const page = await asTeam(given).api.listEvents({ query: { after, limit, event_type, user_id: user, order_id: order } })
    const rows = page.events.map(({ created_at, event_type, user_id, event_id }) => [created_at, event_type, user_id, event_id])
    print(json, page, listing(['AT', 'TYPE', 'USER ID', 'EVENT ID'], rows, `go on with --after ${page.next_cursor}`))
  },
})

export const tailEvents = command({
  name: 'events tail',
  summary: 'Follow the event log as it grows, until Ctrl-C. A line that is lost is taken up where it was.',
  options: {
    ...reach,
    ...wanted,
    after: { value: 'CURSOR', what: 'A place in the log; start reads all that is kept first.', fallback: 'end' },
    count: { value: 'N', what: 'End after so many events.', shape: Count },
  },
  examples: ["assay events tail --types 'labtest.order.*'", 'assay events tail --after start --json | jq .event_type'],
  async run({ types, user, order, after, count = Number.POSITIVE_INFINITY, json, ...given }) {
    const service = asTeam(given)
    let told = 0
    for await (const event of eventsOf(service, { after, types, user_id: user, order_id: order })) {
      console.log(json ? JSON.stringify({ ...event.envelope, cursor: event.cursor }) : lineOf(event))
      if (++told >= count) return
    }
  },
})
