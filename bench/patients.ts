import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { testId, tests } from '../test/support/orders.ts'
import { anAddress } from '../test/support/people.ts'
import type { Running } from './site.ts'

const firstNames = 'Amaranth Bellweather Corisande Dunstan Evander Fennimore Galatea Hyacinth Isambard Juniper'.split(' ')
const lastNames = 'Ashgrove Birchwater Cloverfield Dunmarsh Elderbrook Foxholme Greyfallow Hollowell Ivybridge Juniperwood'.split(' ')

export type Patient = { user_id: string; patient_details: { first_name: string; last_name: string } & Record<string, unknown> }

/** Creates users with the numbers from `first` on. */
export const createPatients = ({ load }: Running, count: number, connections: number, first = 0) =>
  load({
    connections,
    times: count,
    requests: Array.from({ length: count }, (_, n) => ({
      method: 'POST',
      path: '/v2/user',
      body: JSON.stringify({ client_user_id: `patient-${first + n}` }),
    })),
  })

/** The users of a database, each with fixed demographics. */
export async function patientsIn(database: string): Promise<Patient[]> {
  const rows = await query<{ user_id: string; client_user_id: string }>(database, 'select user_id, client_user_id from users')
  return rows.map(({ user_id, client_user_id }) => ({ user_id, patient_details: personOf(Number(client_user_id.split('-')[1])) }))
}

/** Gives every user a unique name. */
const personOf = (n: number) => ({
  first_name: firstNames[n % 10] as string,
  last_name: `${lastNames[Math.floor(n / 10) % 10]} ${nameSuffix(Math.floor(n / 100))}`,
  dob: `19${50 + (n % 50)}-0${1 + (n % 9)}-1${n % 10}`,
  phone_number: `+1202555${String(1000 + (n % 9000))}`,
  email: `patient-${n}@example.org`,
  gender: 'female',
})

const nameSuffix = (n: number) => `Mc${String.fromCharCode(97 + (n % 26))}${String.fromCharCode(97 + (Math.floor(n / 26) % 26))}rle`

/** Builds a request that places an order for each user. */
export async function orderRequests({ url, headers }: Running, patients: Patient[], change: object = {}) {
  const lab_test_ids = [await testId(createClient(url, headers), tests.walk_in_test)]
  return patients.map(({ user_id, patient_details }) => ({
    method: 'POST',
    path: '/v3/order',
    body: JSON.stringify({ user_id, patient_details, patient_address: anAddress(), order_set: { lab_test_ids }, ...change }),
  }))
}
