import { z } from 'zod'
import { Id } from '../common.ts'
import { endpoint } from '../endpoint.ts'

const CommunicationSettings = z
  .object({ order_id: Id, sms_enabled: z.boolean().describe('Assay stores this setting and sends no SMS.') })
  .meta({ id: 'CommunicationSettings' })

const settings = {
  auth: 'team',
  tag: 'Orders',
  path: '/v3/order/{order_id}/communication_settings',
  params: z.object({ order_id: Id }),
  subjects: { order_id: 'path.order_id' },
  returns: CommunicationSettings,
  refusals: { 404: 'No such order in the team.' },
} as const

export const communicationEndpoints = {
  getCommunicationSettings: endpoint({
    ...settings,
    method: 'get',
    summary: 'Get the communication settings of an order',
    description: "Returns the team's lab_tests_patient_sms_communication_enabled until the order has a setting of its own.",
  }),
  patchCommunicationSettings: endpoint({
    ...settings,
    method: 'patch',
    summary: 'Update the communication settings of an order',
    description: 'Assay sends no messages to patients yet.',
    body: z.object({ sms_enabled: z.boolean() }).meta({ id: 'CommunicationSettingsPatch' }),
  }),
}
