import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { UnmatchedResultTestRun } from '../../contract/labs/match-review.ts'
import type { NewUnmatchedResultTest } from '../../contract/labs/unmatched-results.ts'
import { createUser } from '../../delivery/events/user-events.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid, Problem, problem, reasonOfProblem } from '../../platform/problem.ts'
import { ageOn } from '../../platform/time.ts'
import { simulateOrder } from '../adapters/simulator/advance.ts'
import { simulateResults } from '../adapters/simulator/values.ts'
import { listAllLabTests, loadMeasurements, requireLabTest } from '../catalog/actions.ts'
import { loadAccountNumber } from '../catalog/markers.ts'
import { readBuiltIn } from '../hl7/profiles/read.ts'
import { placeOrder } from '../orders/placing/place.ts'
import { cancelOrder } from '../orders/progress/actions.ts'
import { type LoadedOrder, requireOrder } from '../orders/reading/present.ts'
import { newSampleId } from '../orders/sample-ids.ts'
import { queueForTeam } from './queue.ts'
import { getUnmatchedResult } from './reviews.ts'
import { caseDefinitions, inventedAddress, inventedPatient, reportedPatient, simulatedGroups } from './rules-tests.ts'
import * as store from './store.ts'

type Body = z.output<typeof NewUnmatchedResultTest>

export const listUnmatchedResultTestCases = async () => ({
  data: Object.entries(caseDefinitions).map(([name, definition]) => ({ case: name, ...definition })),
})

export async function getUnmatchedResultTest(app: App, { team_id }: TeamCaller, id: string) {
  const found = await store.findRun(app.db, team_id, id)
  if (!found) throw problem('UNMATCHED_TEST_NOT_FOUND', 'The team has no such test. Send the run_id of POST /v3/unmatched_result_test.')
  return found.run
}

/** Makes the orders of a case and a result that fits none of them, and puts it in the queue of the team. A run that fails is kept. */
export const createUnmatchedResultTest = (app: App, caller: TeamCaller, body: Body) =>
  inTransaction(app, async (app) => {
    checkRoles(body)
    const run = newRun(app, body)
    try {
      await runCase({ ...app, requestRows: undefined }, caller, body, run)
      Object.assign(run, { status: 'succeeded', stage: 'succeeded' })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { type: code, message } = reasonOfProblem(error)
      Object.assign(run, { status: 'failed', stage: 'failed', error: { code, message } })
    }
    const at = app.now()
    Object.assign(run, { updated_at: at, completed_at: at })
    await store.insertRun(app.db, { team_id: caller.team_id, id: run.run_id, run: JSON.stringify(run), created_at: run.created_at })
    const orders = Object.values(run.orders)
    return { ...run, order_ids: orders.map(({ order_id }) => order_id), user_id: orders[0]?.user_id }
  })

function newRun(app: App, { order_source, result_status, ...body }: Body): UnmatchedResultTestRun {
  const at = app.now()
  return {
    ...{ run_id: randomUUID(), status: 'running', stage: 'validating', case: body.case, order_source, result_status, orders: {} },
    ...{ raw_result_id: null, error: null, created_at: at, updated_at: at, started_at: at, completed_at: null },
  }
}

function checkRoles({ order_source, orders, ...body }: Body) {
  const { order_roles } = caseDefinitions[body.case]
  if (order_source === 'managed') return
  const missing = order_roles.filter((role) => !orders?.[role])
  if (missing.length) throw invalid(['body', 'orders'], `Send the ID of an order for ${missing.join(' and ')}.`)
}

async function runCase(app: AppInTransaction, caller: TeamCaller, body: Body, run: UnmatchedResultTestRun) {
  const orders = body.order_source === 'managed' ? await createOrders(app, caller, body) : await providedOrders(app, caller, body)
  run.orders = Object.fromEntries(
    orders.map(({ role, order }) => [role, { order_id: order.id, user_id: order.user_id, order_transaction_id: order.transaction_id }]),
  )
  const raw_result_id = await queueResult(app, caller, body, orders[0]?.order)
  const { decision_code } = await getUnmatchedResult(app, caller, raw_result_id)
  if (decision_code !== body.case)
    throw problem('STATUS_NOT_REACHABLE', `The result was queued as ${decision_code}. Use a patient without other orders.`)
  run.raw_result_id = raw_result_id
}

type RoleOrder = { role: string; order: LoadedOrder }

/** Orders of one invented patient, advanced to the statuses of the case. */
async function createOrders(app: AppInTransaction, caller: TeamCaller, body: Body): Promise<RoleOrder[]> {
  const { order_roles, required_statuses } = caseDefinitions[body.case]
  if (!order_roles.length) return []
  const name = newSampleId()
  const { user_id } = await createUser(app, caller, { client_user_id: `unmatched-result-test-${name}` })
  const test = await testFor(app, caller, body, body.case === 'wrong_lab')
  const orders: RoleOrder[] = []
  for (const role of order_roles) {
    const { order } = await placeOrder(app, caller, orderBody(user_id, test.id, name))
    await advanceTo(app, caller, order.id, required_statuses[role] as string)
    orders.push({ role, order: await requireOrder(app, caller.team_id, order.id) })
  }
  return orders
}

async function advanceTo(app: AppInTransaction, caller: TeamCaller, order_id: string, status: string) {
  if (status === 'ordered') return
  if (status === 'cancelled') await cancelOrder(app, caller, order_id)
  else await simulateOrder(app, caller, order_id, { final_status: await statusOf(app, caller, order_id, status) }, null)
}

const statusOf = async (app: App, { team_id }: TeamCaller, order_id: string, step: string) =>
  `.${(await requireOrder(app, team_id, order_id)).method}.${step}`

/** The lab test of the orders. For a wrong lab, it is of another lab than the result. */
async function testFor(app: App, caller: TeamCaller, { lab_test_id, wrong_lab_test_id }: Body, isWrong: boolean) {
  const tests = await listAllLabTests(app, caller, { generation_method: 'manual', order_direction: 'asc', status: 'active' })
  const right = lab_test_id ? await requireLabTest(app, caller.team_id, lab_test_id) : tests.find(({ method }) => method === 'walk_in_test')
  if (!right) throw problem('LAB_TEST_NOT_FOUND', 'The catalog has no walk-in test. Send lab_test_id.')
  if (!isWrong) return right
  if (wrong_lab_test_id) return requireLabTest(app, caller.team_id, wrong_lab_test_id)
  const other = tests.find(({ method, lab }) => method === right.method && lab.id !== right.lab_id)
  if (!other) throw problem('LAB_TEST_NOT_FOUND', 'The catalog has one lab only. Send wrong_lab_test_id.')
  return other
}

const orderBody = (user_id: string, lab_test_id: string, name: string) =>
  ({
    ...{ user_id, patient_details: inventedPatient(name), patient_address: inventedAddress, order_set: { lab_test_ids: [lab_test_id] } },
    ...{ billing_type: 'client_bill', priority: false, consents: [] },
    // The order has the required fields; the rest is optional.
  }) as unknown as Parameters<typeof placeOrder>[2]

async function providedOrders(app: App, { team_id }: TeamCaller, body: Body): Promise<RoleOrder[]> {
  const { order_roles, required_statuses } = caseDefinitions[body.case]
  const orders: RoleOrder[] = []
  for (const role of order_roles) {
    const order = await requireOrder(app, team_id, body.orders?.[role] as string)
    if (order.low_level !== required_statuses[role])
      throw problem('STATUS_NOT_REACHABLE', `The order of ${role} is in ${order.low_level}. Provide one in ${required_statuses[role]}.`)
    orders.push({ role, order })
  }
  return orders
}

/** A result of the patient of the order with an unknown number; for a mismatch, with the number and another patient. */
async function queueResult(app: AppInTransaction, caller: TeamCaller, body: Body, order: LoadedOrder | undefined) {
  const profile = readBuiltIn('loi-lri-2.5.1')
  const isMismatch = body.case === 'match_sample_id_mismatch_demo'
  const test = order && body.case !== 'wrong_lab' ? order.lab_test : await testFor(app, caller, body, false)
  const number = (isMismatch && order?.sample_id) || newSampleId()
  const patient = (!isMismatch && order?.document.patient_details) || inventedPatient(newSampleId())
  const ordered = await loadMeasurements(app, test)
  const now = app.now()
  const { results } = simulateResults({
    ...ordered,
    ...{
      seed: number,
      gender: patient.gender,
      age: ageOn(patient.dob, now.slice(0, 10)),
      interpretation: body.interpretation,
      version: 'final',
    },
  })
  const groups = simulatedGroups({ markers: ordered.markers, results, isFinal: body.result_status === 'final', number, at: now })
  return queueForTeam(app, caller.team_id, {
    lab: { id: test.lab_id, profile },
    report: {
      account: await loadAccountNumber(app, order?.lab_account_id ?? null),
      patient: reportedPatient(patient, profile.patient.sex),
    },
    received: { notes: [], groups },
    number,
    message_ref: `test ${number}`,
  })
}
