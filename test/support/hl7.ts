import { fileReport } from '../../src/labs/filing/actions.ts'
import { parseMessage } from '../../src/labs/hl7/codec/rules-message.ts'
import { insertReceived } from '../../src/labs/hl7/inbox/store.ts'
import { readResults } from '../../src/labs/hl7/messages/rules-results.ts'
import { bodyAssociatedData } from '../../src/labs/hl7/outbox/queue.ts'
import { insertMessages } from '../../src/labs/hl7/outbox/store.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import type { App } from '../../src/platform/app.ts'
import { type SealingKey, sealBytes } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { people } from './people.ts'
import { newUuid } from './seeded.ts'

type Sender = { account?: string; patient?: string }

export const pidOf = ({ first_name, last_name, dob }: { first_name: string; last_name: string; dob: string }, sex = 'F') =>
  `PID|1||U-1^^^ASSAY^PI||${last_name}^${first_name}^^^^^L||${dob.replaceAll('-', '')}|${sex}`

/** A test of a result message, with the code of the lab and a status. `ordered` is OBR-20. */
export const obr = (number: string, code: string, status = 'F', { action = '', reported = '20260302092500', ordered = '' } = {}) =>
  `OBR|1|${number}|ACC-1^LAB|${code}^${code}^L|||20260301081500-0600||||${action}|||20260301190000-0600||||||${ordered}||${reported}-0600||LAB|${status}`

export const potassium = { order: 'QM10119', loinc: '2823-3', name: 'Potassium', unit: 'mmol/L^mmol/L^UCUM' }
export const hba1c = { order: 'QM10133', loinc: '4548-4', name: 'Hemoglobin A1c', unit: '%' }

type Measurement = { loinc: string; name: string; unit: string }

export const obx = (
  { loinc, name, unit }: Measurement,
  value: string,
  status = 'F',
  { type = 'NM', range = '', flags = '', rest = '' } = {},
) =>
  `OBX|1|${type}|${loinc}^${name}^LN^${name.toUpperCase()}^${name}^L||${value}|${unit}|${range}|${flags}|||${status}|||20260301081500-0600${rest}`

/** A document inside a message. */
export const embedded = (bytes: Buffer, type: string, code = 'REPORT') =>
  `OBX|9|ED|${code}^Report^L||LAB^${type}^Base64^${bytes.toString('base64')}||||||F`

/** Reads the lines of a result as a message of the lab and files it. */
export async function file(app: App, { account = 'ACC123', patient = pidOf(people[0]) }: Sender, lines: string[], ref = 'message-1') {
  const header = `MSH|^~\\&|LAB|MAIN|ASSAY|${account}|20260302093000-0600||ORU^R01^ORU_R01|${ref}|T|2.5.1|||AL|NE`
  const profile = readBuiltIn('loi-lri-2.5.1')
  const message = parseMessage([header, patient, ...lines].join('\r'), 'UNICODE UTF-8')
  const filed = []
  for (const report of readResults(message, profile)) filed.push(await fileReport(app, { id: 1, profile }, report, ref))
  return { orders: filed.flatMap(({ orders }) => orders), unmatched: filed.flatMap(({ unmatched }) => unmatched) }
}

/** A message that places an order and that the lab rejected. Returns its ID. */
export async function aLabMessage(app: App, { team_id, id: order_id, user_id }: { team_id: string; id: string; user_id: string }) {
  const id = newUuid()
  const key = (await userSealingKey(app, team_id, user_id)) as SealingKey
  const text = ['MSH|^~\\&|ASSAY|ACC|LAB|LAB|20260302||ORM^O01|M1|T|2.3', pidOf(people[0]), 'ORC|NW|7K2M', ''].join('\r')
  await insertMessages(app.db, [
    {
      ...{ team_id, id, order_id, lab_id: 1, position: 0, queued_at: app.wall() },
      ...{ direction: 'out', kind: 'order', control_id: 'M1', state: 'rejected', attempts: 1, answer_code: 'AE' },
      sealed: sealBytes(key, bodyAssociatedData(id), Buffer.from(text)),
    },
  ])
  return id
}

/** A message of the lab that could not be filed. */
export const aFailedMessage = (app: App, control_id: string) =>
  insertReceived(app.db, {
    ...{ lab_id: 1, control_id, type: 'ORU^R01', state: 'failed', received_at: app.wall(), position: 0, attempts: 5, error: 'TypeError' },
    ...{ digest: Buffer.alloc(32), sealed: Buffer.alloc(1), answer_sealed: Buffer.alloc(1) },
  })
