import {
  assertThat,
  expectRefusal,
  expectStatus,
  type Family,
  type Fields,
  fieldsOf,
  listOf,
  requireId,
  type Session,
  skip,
} from './session.ts'
import { address, patient } from './users.ts'

const fields = [
  ...[
    'id',
    'user_id',
    'team_id',
    'patient_details',
    'patient_address',
    'lab_test',
    'details',
    'sample_id',
    'notes',
    'created_at',
    'updated_at',
  ],
  ...[
    'events',
    'last_event',
    'status',
    'physician',
    'health_insurance_id',
    'priority',
    'activate_by',
    'billing_type',
    'origin',
    'order_transaction',
  ],
]
const unknownId = '00000000-0000-4000-8000-000000000000'
const dateInDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

const bodyOf = (session: Session, change: object = {}) => ({
  user_id: requireId(session, 'user_id'),
  patient_details: patient,
  patient_address: address,
  order_set: { lab_test_ids: [requireId(session, 'lab_test_id')] },
  ...change,
})

const post = (session: Session, change: object = {}, headers = {}) =>
  session.call('team', 'POST', '/v3/order', { body: bodyOf(session, change), headers })

async function placeOrder(session: Session, change: object = {}, headers = {}) {
  const reply = await post(session, change, headers)
  expectStatus(reply, 200)
  const order = fieldsOf(fieldsOf(reply.body, ['order', 'status', 'message'])['order'], fields, 'the order')
  return { ...order, id: String(order['id']) } as Fields & { id: string }
}

const getOrder = (session: Session, id: string) => session.call('team', 'GET', `/v3/order/${id}`)
const reschedule = (session: Session, id: string, activate_by: string | null) =>
  session.call('team', 'PATCH', `/v3/order/${id}`, { body: { activate_by } })

function checkEvents(order: Fields) {
  const events = listOf(order['events'], 'events')
  assertThat(events.length > 0, 'the order has no events')
  for (const event of events) {
    fieldsOf(event, ['id', 'created_at', 'status'], 'an event')
    assertThat(Number.isInteger(event['id']), 'the ID of an event is not a whole number')
    assertThat(/^[a-z_]+\.[a-z_]+\.[a-z_]+$/.test(String(event['status'])), 'a status is not top_level.method.low_level')
  }
  assertThat(JSON.stringify(order['last_event']) === JSON.stringify(events.at(-1)), 'last_event is not the latest event')
}

export const orders: Family = {
  name: 'Orders',
  checks: [
    {
      name: 'places and returns an order with its events',
      spec: 'POST /v3/order',
      async run(session) {
        const order = await placeOrder(session)
        session.ids['order_id'] = order.id
        checkEvents(order)
        const reply = await getOrder(session, order.id)
        expectStatus(reply, 200)
        checkEvents(fieldsOf(reply.body, fields, 'the order'))
      },
    },
    {
      name: 'records missing patient fields as Not Specified',
      spec: 'PatientDetails',
      async run(session) {
        const { body } = await getOrder(session, requireId(session, 'order_id'))
        const patient = fieldsOf(
          (body as Fields)['patient_details'],
          ['race', 'ethnicity', 'sexual_orientation', 'gender_identity'],
          'the patient',
        )
        assertThat(patient['race'] === 'Not Specified', 'race is not Not Specified')
      },
    },
    {
      name: 'returns the same order for the same idempotency key',
      spec: 'POST /v3/order, headers',
      async run(session) {
        const headers = { 'x-idempotency-key': `${session.ids['run']}-order` }
        const first = await placeOrder(session, {}, headers)
        assertThat((await placeOrder(session, {}, headers)).id === first.id, 'a second order was placed')
      },
    },
    ...(
      [
        ['a missing patient', { patient_details: undefined }],
        ['a first name of 51 letters', { patient_details: { ...patient, first_name: 'x'.repeat(51) } }],
        ['an empty last name', { patient_details: { ...patient, last_name: '' } }],
        ['a birth date that does not exist', { patient_details: { ...patient, dob: '1980-02-30' } }],
        ['an unknown gender', { patient_details: { ...patient, gender: 'x' } }],
        ['a zip of four digits', { patient_address: { ...address, zip: '8500' } }],
        ['access notes of 1001 letters', { patient_address: { ...address, access_notes: 'x'.repeat(1001) } }],
        ['an unknown billing type', { billing_type: 'barter' }],
        ['an unknown collection method', { collection_method: 'telepathy' }],
        [
          'an image of another kind',
          {
            physician: {
              first_name: 'A',
              last_name: 'B',
              npi: '1234567893',
              signature_image: { content: 'AAAA', content_type: 'image/gif' },
            },
          },
        ],
      ] as const
    ).map(([fault, change]) => ({
      name: `returns 422 with detail for ${fault}`,
      spec: 'Errors; Limits',
      run: async (session: Session) => void expectRefusal(await post(session, change), 422),
    })),
    {
      name: 'requires a medical proxy for a minor',
      spec: 'Limits',
      async run(session) {
        const child = { ...patient, dob: dateInDays(-3650) }
        expectRefusal(await post(session, { patient_details: child }), 400, 422)
      },
    },
    {
      name: 'rejects an order for an unknown user',
      spec: 'POST /v3/order',
      run: async (session) => void expectRefusal(await post(session, { user_id: unknownId }), 400, 404, 422),
    },
    {
      name: 'lists orders at both paths and filters them by interpretation',
      spec: 'Other operations',
      async run(session) {
        for (const path of ['/v3/orders', '/orders']) {
          const reply = await session.call('team', 'GET', `${path}?size=1`)
          expectStatus(reply, 200)
          assertThat(listOf(fieldsOf(reply.body, ['orders', 'total', 'page', 'size'])['orders'], 'orders').length === 1, 'size is ignored')
        }
        expectStatus(await session.call('team', 'GET', '/v3/orders?interpretation=critical'), 200)
        expectRefusal(await session.call('team', 'GET', '/v3/orders?interpretation=splendid'), 422)
      },
    },
    {
      name: 'holds an order until activate_by, reschedules it, and sends it when activate_by is cleared',
      spec: 'PATCH /v3/order/{order_id}; Rule 3',
      async run(session) {
        const { id, ...order } = await placeOrder(session, { activate_by: dateInDays(20) })
        assertThat(order['activate_by'] === dateInDays(20), 'activate_by was not stored')
        const later = await reschedule(session, id, dateInDays(30))
        expectStatus(later, 200)
        assertThat(fieldsOf((later.body as Fields)['order'], fields)['activate_by'] === dateInDays(30), 'activate_by did not change')
        const sent = await reschedule(session, id, null)
        expectStatus(sent, 200)
        assertThat(fieldsOf((sent.body as Fields)['order'], fields)['activate_by'] === null, 'activate_by is not null')
      },
    },
    {
      name: 'rejects a past day and an order without activate_by when rescheduling',
      spec: 'PATCH /v3/order/{order_id}',
      async run(session) {
        const { id } = await placeOrder(session, { activate_by: dateInDays(20) })
        expectRefusal(await reschedule(session, id, dateInDays(-3)), 400, 422)
        expectRefusal(await reschedule(session, requireId(session, 'order_id'), dateInDays(20)), 400, 422)
        expectRefusal(await reschedule(session, unknownId, dateInDays(20)), 404)
      },
    },
    {
      name: 'cancels an order',
      spec: 'States and transitions',
      async run(session) {
        const { id } = await placeOrder(session, { activate_by: dateInDays(20) })
        expectStatus(await session.call('team', 'POST', `/v3/order/${id}/cancel`), 200)
        const { body } = await getOrder(session, id)
        const { status } = fieldsOf(fieldsOf(body, ['last_event'])['last_event'], ['status'])
        assertThat(/^cancelled\.walk_in_test\./.test(String(status)), 'the last status is not cancelled')
      },
    },
  ],
}

export const results: Family = {
  name: 'Results',
  checks: [
    {
      name: 'returns 404 before there are results',
      spec: 'Errors',
      run: async (session) =>
        void expectRefusal(await session.call('team', 'GET', `/v3/order/${requireId(session, 'order_id')}/result`), 404),
    },
    {
      name: 'simulates an order to completion',
      spec: 'States and transitions',
      async run(session) {
        const id = requireId(session, 'order_id')
        const reply = await session.call('team', 'POST', `/v3/order/${id}/test`)
        if (reply.status === 404) skip('this is not a sandbox')
        expectStatus(reply, 200)
        for (let polls = 0; polls < 40; polls++) {
          const { body } = await getOrder(session, id)
          if (String(fieldsOf((body as Fields)['last_event'], ['status'])['status']).startsWith('completed.')) {
            checkEvents(body as Fields)
            session.ids['completed'] = id
            return
          }
          await new Promise((resolve) => setTimeout(resolve, 500))
        }
        assertThat(false, 'the order did not complete within 20 seconds')
      },
    },
    {
      name: 'returns results with metadata, values and ranges',
      spec: 'Order: interpretation, has_missing_results',
      async run(session) {
        const id = requireId(session, 'completed')
        const reply = await session.call('team', 'GET', `/v3/order/${id}/result`)
        expectStatus(reply, 200)
        const { metadata, results } = fieldsOf(reply.body, ['metadata', 'results', 'missing_results'], 'the results')
        fieldsOf(metadata, ['patient', 'dob', 'date_reported', 'specimen_number', 'status', 'interpretation'], 'the metadata')
        for (const result of listOf(results, 'results'))
          fieldsOf(result, ['name', 'slug', 'result', 'type', 'unit', 'interpretation'], 'a result')
        expectStatus(await session.call('team', 'GET', `/v3/order/${id}/result/metadata`), 200)
      },
    },
    {
      name: 'returns the report as a PDF',
      spec: 'Other operations',
      async run(session) {
        const reply = await session.call('team', 'GET', `/v3/order/${requireId(session, 'completed')}/result/pdf`)
        expectStatus(reply, 200)
        assertThat(reply.headers.get('content-type')?.startsWith('application/pdf'), 'content-type is not application/pdf')
        assertThat(String(reply.body).startsWith('%PDF-'), 'the body is not a PDF')
      },
    },
    {
      name: 'rejects rescheduling an order that has ended',
      spec: 'Rule 2',
      run: async (session) => void expectRefusal(await reschedule(session, requireId(session, 'completed'), dateInDays(5)), 400, 422),
    },
    {
      name: 'lists an order in its transaction',
      spec: 'Order: order_transaction',
      async run(session) {
        const { body } = await getOrder(session, requireId(session, 'completed'))
        const { id } = fieldsOf((body as Fields)['order_transaction'], ['id', 'status', 'orders'], 'order_transaction')
        const reply = await session.call('team', 'GET', `/v3/order_transaction/${id}`)
        expectStatus(reply, 200)
        assertThat(listOf(fieldsOf(reply.body, ['orders'])['orders'], 'orders').length === 1, 'the transaction does not contain the order')
      },
    },
  ],
}
