import type { lifecycle, Method } from './lifecycle.ts'

type Step = { [M in Method]: keyof (typeof lifecycle)[M] }[Method]

/** The meaning of each order step. A step without a text does not compile. */
export const stepMeanings: Record<Step, string> = {
  ordered: 'Assay has accepted the order and sends it to the lab, now or on activate_by.',
  requisition_created: 'The lab has accepted the order, and the requisition is available.',
  requisition_bypassed: 'The order was imported; the lab already has its requisition.',
  awaiting_registration: 'The kit was ordered without a patient and is not registered yet.',
  registered: 'The kit is registered for a patient.',
  appointment_pending: 'The patient needs an appointment.',
  appointment_scheduled: 'The patient has an appointment. The step repeats when the appointment moves.',
  appointment_cancelled: 'The appointment was canceled; the order itself continues.',
  draw_completed: 'The specimen was collected.',
  transit_customer: 'The kit is on its way to the patient.',
  out_for_delivery: 'The courier delivers the kit today.',
  with_customer: 'The patient has the kit.',
  transit_lab: 'The kit is on its way to the lab.',
  problem_in_transit_customer: 'The shipment to the patient is delayed. It can still arrive.',
  problem_in_transit_lab: 'The shipment to the lab is delayed. It can still arrive.',
  delivered_to_lab: 'The lab has received the kit.',
  lab_processing_blocked: 'The lab needs information before it can continue. status_detail says what is missing.',
  partial_results: 'The lab has reported some of the results. The step repeats with each report.',
  completed: 'The lab has reported all results.',
  corrected: 'The lab has corrected results that it had reported.',
  redraw_available: 'The lab needs a new specimen. The order ends, and a redraw order follows in the same transaction.',
  sample_error: 'The lab rejected the specimen. status_detail gives the reason.',
  failure_to_deliver_to_customer: 'The kit could not be delivered to the patient.',
  failure_to_deliver_to_lab: 'The kit could not be delivered to the lab.',
  lost: 'The kit was lost in transit.',
  cancelled: 'The order was canceled.',
  do_not_process: 'The lab must not process the kit.',
}
