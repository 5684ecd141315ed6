import { VitalClient, VitalError } from '@tryvital/vital-node'
import { expect, test } from 'vitest'
import { type Method, methods } from '../../src/contract/labs/lifecycle.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { eventsOf } from '../support/events.ts'
import { testId, tests } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

const w = await world()
const { api, runJobs } = w

/** The public SDK, unmodified and constructed as its documentation shows. */
const sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })

const patientDetails = (([{ first_name, last_name, phone_number, ...rest }]) => ({
  firstName: first_name,
  lastName: last_name,
  phoneNumber: phone_number,
  ...rest,
  gender: 'female' as const,
}))(people)
const patientAddress = { firstLine: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
const shippingDetails = { ...patientAddress, receiverName: people[2].first_name, phoneNumber: people[2].phone_number }

const newUser = async () => (await sdk.user.create({ clientUserId: `sdk-${newUuid()}` })).userId
const newOrder = async (method: Method) => ({
  userId: await newUser(),
  patientDetails,
  patientAddress,
  orderSet: { labTestIds: [await testId(api, tests[method])] },
})
const stepsOf = ({ events }: { events: { status?: string }[] }) => events.map(({ status }) => status)

const statusPaths: Record<Method, string[]> = {
  walk_in_test: [
    'received.walk_in_test.ordered',
    'received.walk_in_test.requisition_created',
    'sample_with_lab.walk_in_test.partial_results',
    'completed.walk_in_test.completed',
  ],
  at_home_phlebotomy: [
    'received.at_home_phlebotomy.ordered',
    'received.at_home_phlebotomy.requisition_created',
    'collecting_sample.at_home_phlebotomy.appointment_pending',
    'collecting_sample.at_home_phlebotomy.appointment_scheduled',
    'collecting_sample.at_home_phlebotomy.draw_completed',
    'sample_with_lab.at_home_phlebotomy.partial_results',
    'completed.at_home_phlebotomy.completed',
  ],
  testkit: [
    'received.testkit.ordered',
    'received.testkit.requisition_created',
    'collecting_sample.testkit.transit_customer',
    'collecting_sample.testkit.out_for_delivery',
    'collecting_sample.testkit.with_customer',
    'collecting_sample.testkit.transit_lab',
    'sample_with_lab.testkit.delivered_to_lab',
    'completed.testkit.completed',
  ],
  on_site_collection: [
    'received.on_site_collection.ordered',
    'received.on_site_collection.requisition_created',
    'sample_with_lab.on_site_collection.draw_completed',
    'sample_with_lab.on_site_collection.partial_results',
    'completed.on_site_collection.completed',
  ],
}

test.each(methods)('the SDK places a %s order and reads its results and PDFs', async (method) => {
  const body = await newOrder(method)
  const placed = await sdk.labTests.createOrder({ ...body, idempotencyKey: newUuid(), collectionMethod: method, passthrough: 'visit 7' })
  expect(placed).toMatchObject({
    status: 'success',
    message: 'Order created successfully',
    order: {
      userId: body.userId,
      teamId: w.team_id,
      passthrough: 'visit 7',
      hasAbn: false,
      details: { type: method },
      labTest: { method },
    },
  })
  const { id } = placed.order
  await runJobs()
  expect(stepsOf(await sdk.labTests.getOrder(id))).toEqual(statusPaths[method].slice(0, 2))
  expect(await failure(sdk.labTests.getResultRaw(id))).toMatchObject({
    statusCode: 404,
    body: { detail: { error_type: 'RESULTS_NOT_AVAILABLE' } },
  })

  expect(await sdk.labTests.simulateOrderProcess(id)).toBe('Success')

  const done = await sdk.labTests.getOrder(id)
  expect(stepsOf(done)).toEqual(statusPaths[method])
  expect(done).toMatchObject({ id, status: 'completed', interpretation: 'normal', hasMissingResults: false, sampleId: expect.any(String) })
  expect(done.createdAt).toBeInstanceOf(Date)
  expect(done.expectedResultByDate).toMatch(/^\d{4}-\d\d-\d\d$/)
  expect((await sdk.labTests.getOrders({ userId: body.userId })).orders).toEqual([done])

  const raw = await sdk.labTests.getResultRaw(id)
  const results = raw.results as { name: string; result: string; type: string; interpretation?: string }[]
  expect(results.length).toBeGreaterThan(0)
  expect(new Set(results.map(({ interpretation }) => interpretation))).toEqual(new Set(['normal']))
  expect(raw.metadata).toMatchObject({
    patient: `${people[0].first_name} ${people[0].last_name}`,
    status: 'final',
    interpretation: 'normal',
    specimenNumber: done.sampleId,
  })
  expect(await sdk.labTests.getResultMetadata(id)).toEqual(raw.metadata)

  for (const pdf of [
    sdk.labTests.getResultPdf(id),
    sdk.labTests.getOrderRequistionPdf(id),
    sdk.labTests.getLabelsPdf(id, { collectionDate: new Date('2026-03-01T09:30:00Z'), numberOfLabels: 2 }),
    sdk.labTests.getOrderCollectionInstructionPdf(id),
    sdk.labTests.getLabTestCollectionInstructionPdf(done.labTest.id),
  ])
    expect(await prefixOf(pdf)).toBe('%PDF-')
  expect(await failure(sdk.labTests.getOrderAbnPdf(id))).toMatchObject({
    statusCode: 404,
    body: { detail: { error_type: 'DOCUMENT_NOT_AVAILABLE' } },
  })
  expect(await failure(sdk.labTests.cancelOrder(id))).toMatchObject({
    statusCode: 400,
    body: { detail: { error_type: 'ORDER_NOT_CANCELLABLE' } },
  })
})

test.each(methods)('the SDK cancels a %s order, and a second time without effect', async (method) => {
  const { order } = await sdk.labTests.createOrder(await newOrder(method))
  const cancelled = await sdk.labTests.cancelOrder(order.id)
  expect(cancelled).toMatchObject({ message: 'order cancelled', order: { id: order.id, status: 'cancelled' } })
  expect(stepsOf(cancelled.order)).toEqual([`received.${method}.ordered`, `cancelled.${method}.cancelled`])
  expect(await sdk.labTests.cancelOrder(order.id)).toEqual({ ...cancelled, message: 'order already cancelled' })
})

test('the SDK simulates to a status and with flags', async () => {
  const { order } = await sdk.labTests.createOrder(await newOrder('walk_in_test'))
  const body = { interpretation: 'critical' as const, resultTypes: ['numeric' as const, 'coded_value' as const], hasMissingResults: true }
  const finalStatus = 'sample_with_lab.walk_in_test.partial_results'
  expect(await sdk.labTests.simulateOrderProcess(order.id, { finalStatus, delay: 0, body })).toBe('Success')
  const partial = await sdk.labTests.getOrder(order.id)
  expect(stepsOf(partial).at(-1)).toBe(finalStatus)
  expect(partial).toMatchObject({ status: 'sample_with_lab', interpretation: 'critical' })
  await sdk.labTests.simulateOrderProcess(order.id, { body })
  const flagged = { status: 'completed', interpretation: 'critical', hasMissingResults: true }
  expect(await sdk.labTests.getOrder(order.id)).toMatchObject(flagged)
  expect((await sdk.labTests.getResultRaw(order.id)).missingResults?.length).toBeGreaterThan(0)
  expect(await failure(sdk.labTests.simulateOrderProcess(order.id, { finalStatus: 'failed.testkit.lost' }))).toMatchObject({
    statusCode: 400,
    body: { detail: { error_type: 'STATUS_NOT_REACHABLE' } },
  })
})

test('the SDK lists orders with repeated keys, dates, sorting and pages', async () => {
  const tenant = await w.tenant()
  const own = new VitalClient({ apiKey: tenant.team_api_key, environment: w.base, maxRetries: 0 })
  const { userId } = await own.user.create({ clientUserId: 'list' })
  const placed: string[] = []
  for (const method of ['walk_in_test', 'testkit'] as const) {
    w.advanceTime(1)
    placed.push((await own.labTests.createOrder({ ...(await newOrder(method)), userId })).order.id)
  }
  const [first, second] = placed as [string, string]
  const ids = async (request: Parameters<typeof own.labTests.getOrders>[0]) =>
    (await own.labTests.getOrders(request)).orders.map(({ id }) => id)
  expect(await ids({})).toEqual([second, first])
  expect(await ids({ status: ['ordered', 'completed'], orderType: ['walk_in_test', 'testkit'], orderDirection: 'asc' })).toEqual(placed)
  expect(await ids({ status: 'ordered', orderType: 'testkit', orderActivationTypes: ['current', 'scheduled'] })).toEqual([second])
  expect(await ids({ orderIds: [first], startDate: new Date(0), endDate: new Date(later(w.app.now(), DAY)) })).toEqual([first])
  expect(await ids({ orderKey: 'patient_name', patientName: people[0].last_name, isCritical: false })).toEqual([second, first])
  expect(await ids({ page: 2, size: 1 })).toEqual([first])
  expect(await own.labTests.getOrders({ size: 1 })).toMatchObject({ total: 2, page: 1, size: 1 })
  expect(await failure(own.labTests.getOrders({ userId: newUuid() }))).toMatchObject({ statusCode: 404 })
})

test('the SDK orders a testkit and registers it for its patient', async () => {
  const [holder, userId, labTestId] = [await newUser(), await newUser(), await testId(api, tests.testkit)]
  const { order } = await sdk.testkit.createOrder({ userId: holder, labTestId, shippingDetails, passthrough: 'box 12' })
  expect(order).toMatchObject({ userId: holder, shippingDetails, passthrough: 'box 12' })
  await runJobs()
  const dispatched = await sdk.labTests.getOrder(order.id)
  expect(stepsOf(dispatched)).toEqual(['received.testkit.ordered', 'received.testkit.awaiting_registration'])
  const registered = await sdk.testkit.register({
    userId,
    sampleId: dispatched.sampleId as string,
    patientDetails,
    patientAddress,
    consents: [{ consentType: 'terms-of-use' }],
  })
  expect(registered).toMatchObject({ message: 'Kit registered successfully', order: { id: order.id, userId } })
  expect(stepsOf(registered.order)).toEqual([...stepsOf(dispatched), 'received.testkit.registered', 'received.testkit.requisition_created'])
  const walkIn = await testId(api, tests.walk_in_test)
  expect(await failure(sdk.testkit.createOrder({ userId, labTestId: walkIn, shippingDetails }))).toMatchObject({
    statusCode: 400,
    body: { detail: { error_type: 'NOT_A_TESTKIT' } },
  })
  expect(await failure(sdk.testkit.register({ sampleId: 'NO-SUCH-KIT', patientDetails, patientAddress }))).toMatchObject({
    statusCode: 404,
    body: { detail: { error_type: 'KIT_NOT_FOUND' } },
  })
})

test('the SDK imports an order that the lab already has', async () => {
  const { orderSet, ...body } = await newOrder('walk_in_test')
  const sampleId = `LAB-${newUuid()}`
  const imported = { ...body, orderSet, sampleId, billingType: 'client_bill' as const, collectionMethod: 'walk_in_test' as const }
  const reply = await sdk.labTests.importOrder({ ...imported, patientAddress: { ...patientAddress, receiverName: '' } })
  expect(reply).toMatchObject({ message: 'Order imported successfully', order: { sampleId } })
  expect(stepsOf(reply.order)).toEqual(['received.walk_in_test.ordered', 'received.walk_in_test.requisition_bypassed'])
  expect(await failure(sdk.labTests.getOrderRequistionPdf(reply.order.id))).toMatchObject({ statusCode: 404 })
})

test('the SDK reports an on-site draw', async () => {
  const { order } = await sdk.labTests.createOrder(await newOrder('on_site_collection'))
  await runJobs()
  const drawn = await sdk.labTests.updateOnSiteCollectionOrderDrawCompleted(order.id)
  expect(stepsOf(drawn.order).at(-1)).toBe('sample_with_lab.on_site_collection.draw_completed')
})

test('the SDK resends events', async () => {
  const { order } = await sdk.labTests.createOrder(await newOrder('walk_in_test'))
  const before = (await eventsOf(w.app, w.team_id)).length
  expect(await sdk.order.resendEvents({ orderIds: [order.id] })).toEqual({ orderIds: [order.id] })
  const [resent, ...others] = (await eventsOf(w.app, w.team_id)).slice(before)
  expect(others).toEqual([])
  expect(resent).toMatchObject({ event_type: 'labtest.order.created', order_id: order.id })
  const since = { startAt: order.createdAt, endAt: new Date(later(order.createdAt.toISOString(), 1)) }
  expect((await sdk.order.resendEvents(since)).orderIds).toContain(order.id)
})

test('the SDK reads the advance beneficiary notice of an order', async () => {
  const body = await newOrder('walk_in_test')
  const address = { firstLine: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
  const { payorCode } = await sdk.payor.createPayor({ name: 'Medicare Part B', address })
  const insured = { ...patientDetails, address: { ...patientAddress, secondLine: '' } }
  await sdk.user.createInsurance(body.userId, { payorCode, memberId: 'MEMBER-55501', relationship: 'Self', insured })
  const { order } = await sdk.labTests.createOrder({ ...body, billingType: 'commercial_insurance', icdCodes: ['Z00.00'] })
  expect(order).toMatchObject({ hasAbn: true, healthInsuranceId: expect.any(String), icdCodes: ['Z00.00'] })
  expect(await prefixOf(sdk.labTests.getOrderAbnPdf(order.id))).toBe('%PDF-')
})

test('the SDK throws the errors of a rejected order', async () => {
  const body = await newOrder('walk_in_test')
  expect(await failure(sdk.labTests.createOrder({ ...body, patientAddress: { ...patientAddress, zip: 'x' } }))).toMatchObject({
    statusCode: 422,
    body: { detail: [{ loc: ['body', 'patient_address', 'zip'] }] },
  })
  expect(await failure(sdk.labTests.createOrder({ ...body, userId: newUuid() }))).toMatchObject({ statusCode: 404 })
  expect(await failure(sdk.labTests.getOrder(newUuid()))).toMatchObject({
    statusCode: 404,
    body: { detail: { error_type: 'ORDER_NOT_FOUND' } },
  })
})

const prefixOf = async (pdf: PromiseLike<{ arrayBuffer: () => Promise<ArrayBuffer> }>) =>
  Buffer.from(await (await pdf).arrayBuffer())
    .subarray(0, 5)
    .toString()

const failure = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => expect.unreachable('the call should fail'),
    (error: VitalError) => {
      expect(error).toBeInstanceOf(VitalError)
      return error
    },
  )
