import { problem } from '../../platform/problem.ts'

/** IDs, names, and whether the visit is refundable. */
const homeReasons: [id: string, name: string, is_refundable: boolean][] = [
  ['0f3c7d52-6a1e-4c89-9b27-5d8e4a1f6c01', 'Patient is sick', true],
  ['1a9e4b63-7c2f-4d9a-8c38-6e9f5b2a7d02', 'Patient did not fast', true],
  ['2b8f5c74-8d3a-4eab-9d49-7fa06c3b8e03', 'Patient is traveling', true],
  ['3c7a6d85-9e4b-4fbc-8e5a-80b17d4c9f04', 'Time no longer works for the patient', true],
  ['4d6b7e96-af5c-40cd-9f6b-91c28e5da005', 'Patient chose another collection method', true],
  ['5e5c8fa7-b06d-41de-8a7c-a2d39f6eb106', 'Patient no longer wants the test', true],
  ['6f4d90b8-c17e-42ef-9b8d-b3e4a07fc207', 'Order was placed by mistake', true],
  ['7a3ea1c9-d28f-43fa-8c9e-c4f5b180d308', 'Order was canceled by the clinician', true],
  ['8b2fb2da-e39a-44ab-9daf-d5a6c291e409', 'Address is wrong', true],
  ['9c1ac3eb-f4ab-45bc-8eb0-e6b7d3a2f50a', 'Address cannot be reached', false],
  ['ad0bd4fc-05bc-46cd-9fc1-f7c8e4b3060b', 'Patient was not at home', false],
  ['be9ce50d-16cd-47de-8ad2-08d9f5c4170c', 'Phlebotomist is not available', true],
  ['cf8df61e-27de-48ef-9be3-19eaa6d5280d', 'Draw was not possible', false],
  ['d07ea72f-38ef-49fa-8cf4-2afbb7e6390e', 'Other', true],
]
const centerReasons: typeof homeReasons = [['e16fb83a-49fa-4aab-9da5-3bacc8f74a0f', 'Other', true]]

const reasonsOf = { phlebotomy: homeReasons, patient_service_center: centerReasons }

export const listCancellationReasons = (type: keyof typeof reasonsOf) =>
  reasonsOf[type].map(([id, name, is_refundable]) => ({ id, name, is_refundable }))

export function requireReason(type: keyof typeof reasonsOf, reason_id: string) {
  const reason = listCancellationReasons(type).find(({ id }) => id === reason_id)
  if (!reason) throw problem('UNKNOWN_CANCELLATION_REASON', 'No reason has this ID. List them with GET …/appointment/cancellation-reasons.')
  return reason.name
}
