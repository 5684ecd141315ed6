import { Day } from '../contract/common.ts'
import { fetchAllPages } from './all-pages.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { pathOf, targetOptions } from './replay.ts'
import { asManager } from './service.ts'

export const disclosuresCommand = command({
  name: 'webhooks disclosures',
  summary: 'Count which personal fields webhooks and pipelines have sent to whom, by day, destination and event type.',
  options: {
    ...targetOptions,
    from: { value: 'DAY', what: 'First day, in UTC.', shape: Day, required: true },
    to: { value: 'DAY', what: 'Last day. Default: today.', shape: Day },
  },
  examples: ['assay webhooks disclosures --from 2026-11-01 --to 2026-11-30'],
  async run({ from, to, json, ...target }) {
    const service = asManager(target)
    const params = pathOf(service, target)
    const pages = await fetchAllPages((page) => service.api.listDisclosures({ params, query: { from, to, limit: 500, ...page } }))
    const known_from = pages[0]?.known_from
    const data = pages.flatMap((page) => page.data)
    const rows = data.flatMap(({ day, destination, webhook_id, receiver, event_type, fields }) =>
      fields.map(({ field, count }) => [day, webhook_id ?? destination, receiver, event_type, field, count]),
    )
    // What is missing before this time is unknown, and not none.
    if (known_from && !json) console.error(`Assay has counted since ${known_from}.`)
    print(json, { known_from, data }, listing(['DAY', 'DESTINATION', 'RECEIVER', 'EVENT TYPE', 'FIELD', 'MESSAGES'], rows))
  },
})
