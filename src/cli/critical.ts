import { CriticalAcknowledgment } from '../contract/labs/order-results.ts'
import { command, print } from './command.ts'
import { orderId } from './orders.ts'
import { asTeam, Count, readText, serviceOptions } from './service.ts'

type Critical = Awaited<ReturnType<ReturnType<typeof asTeam>['api']['getCriticalResult']>>

const { name, reference, role } = CriticalAcknowledgment.shape.reviewer.unwrap().unwrap().shape

/** The note can name a patient, so it is printed with --json only. */
const linesOf = ({ order_id, result_version, critical_version, acknowledged_at, acknowledged_by, reviewer }: Critical) => [
  `order           ${order_id}`,
  `critical since  report ${critical_version}`,
  `latest          report ${result_version}`,
  acknowledged_at ? `acknowledged    ${acknowledged_at} by ${reviewer?.name ?? acknowledged_by?.type}` : 'acknowledged    no',
]

export const showCritical = command({
  name: 'orders critical',
  summary: 'Show the critical result of an order, who acknowledged it, and the latest report. The note is included with --json only.',
  options: { ...serviceOptions, ...orderId },
  async run({ id, json, ...access }) {
    const critical = await asTeam(access).api.getCriticalResult({ params: { order_id: id } })
    print(json, critical, linesOf(critical))
  },
})

export const acknowledgeCritical = command({
  name: 'orders acknowledge',
  summary: 'Record that a person has read the critical result of an order. The record also names the key.',
  options: {
    ...serviceOptions,
    ...orderId,
    'result-version': { value: 'N', what: 'Number of the report that the person has read.', shape: Count, required: true },
    reviewer: { value: 'NAME', what: 'Name of the person.', shape: name, required: true },
    reference: { value: 'TEXT', what: 'Your own ID of the person, such as a staff number.', shape: reference, required: true },
    role: { value: 'TEXT', what: 'Role of the person, such as physician.', shape: role.unwrap().unwrap() },
    'note-file': { value: 'FILE', what: 'File that says who was informed. Use - for standard input.', file: true },
  },
  examples: ['assay orders acknowledge --id ID --result-version 2 --reviewer "Marigold Ashdown" --reference staff-17'],
  async run({ id, 'result-version': result_version, reviewer, reference, role, 'note-file': file, json, ...access }) {
    const note = file && readText(file).trim()
    const body = { result_version, reviewer: { name: reviewer, reference, role }, ...(note ? { note } : {}) }
    const critical = await asTeam(access).api.acknowledgeCritical({ params: { order_id: id }, body })
    // The record of the first person never changes, and the second one must not believe to be in it.
    if (critical.reviewer?.name !== reviewer || critical.reviewer.reference !== reference)
      console.error('Someone else has already acknowledged this result. Your request changed nothing, and your note was not stored.')
    print(json, critical, linesOf(critical))
  },
})
