import { Counter } from 'prom-client'
import { labMessageCounts } from '../../labs/hl7/links/counters.ts'
import { labBacklog } from '../../labs/hl7/outbox/backlog.ts'
import type { Database } from '../../platform/db/open.ts'
import { ageInSeconds, backlogGauges, type Registries } from './backlog-gauges.ts'

/** HL7 messages, by lab. */
export function labMetrics({ registry, backlogs }: Registries, { db }: Database) {
  const labelNames = ['lab', 'direction', 'outcome']
  new Counter({
    name: 'assay_lab_messages_total',
    help: 'HL7 messages to and from labs by outcome.',
    labelNames,
    registers: [registry],
    collect() {
      this.reset()
      for (const [key, value] of labMessageCounts)
        this.inc(Object.fromEntries(key.split(' ').map((text, i) => [labelNames[i], text])), value)
    },
  })
  backlogGauges(
    backlogs,
    () => labBacklog(db),
    ['lab'],
    [
      { name: 'assay_lab_messages_pending', help: 'HL7 messages that wait to be sent to the lab.', measure: ({ pending }) => pending },
      {
        name: 'assay_lab_messages_oldest_seconds',
        help: 'How long the oldest of them has waited.',
        measure: ({ oldest_at }) => ageInSeconds(oldest_at),
      },
      {
        name: 'assay_lab_messages_rejected',
        help: 'HL7 messages that the lab rejected. Their orders are held.',
        measure: ({ rejected }) => rejected,
      },
    ],
  )
}
