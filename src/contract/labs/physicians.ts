import { z } from 'zod'
import { Id, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

const Physician = z.object({ first_name: Safe, last_name: Safe, npi: Safe }).meta({ id: 'Physician' })

const NewPhysician = z
  .object({
    first_name: Text(50),
    last_name: Text(50),
    npi: z.string().regex(/^\d{10}$/, 'Must be an NPI of ten digits.'),
  })
  .meta({ id: 'NewPhysician' })

const physicians = {
  auth: 'team',
  tag: 'Teams',
  path: '/v2/team/{team_id}/physicians',
  subjects: {},
  params: z.object({ team_id: Id }),
  returns: z.array(Physician),
} as const
const notOwn = { 404: 'The key belongs to another team.' }

export const physicianEndpoints = {
  listPhysicians: endpoint({ ...physicians, method: 'get', summary: "List the team's physicians", refusals: notOwn }),
  putPhysicians: endpoint({
    ...physicians,
    method: 'put',
    summary: "Replace the team's physicians",
    description: 'Assay does not add them to orders. Name the physician in each order.',
    body: z.object({ physicians: z.array(NewPhysician).max(500) }).meta({ id: 'PhysicianList' }),
    refusals: { 400: 'An NPI is listed twice, or its check digit is wrong.', ...notOwn },
  }),
}
