import { Id } from '../contract/common.ts'
import { approveLabTest, listPendingLabTests } from '../labs/catalog/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

export const pendingTests = command({
  name: 'lab-tests pending',
  summary: 'List the lab tests that are pending approval.',
  options: {},
  async run({ json }) {
    const tests = await withApp(listPendingLabTests)
    print(
      json,
      tests,
      listing(
        ['LAB TEST ID', 'METHOD', 'TEAM', 'NAME'],
        tests.map(({ id, method, team, name }) => [id, method, team ?? 'catalog', name]),
      ),
    )
  },
})

export const approveTest = command({
  name: 'lab-tests approve',
  summary: 'Approve a lab test. Its team can then order it.',
  options: { id: { value: 'ID', what: 'Lab test ID from assay lab-tests pending.', shape: Id, required: true } },
  async run({ id, json }) {
    const test = await withApp((app) =>
      recordOperator(
        app,
        'approve lab test',
        (app) => approve(app, id),
        () => `lab_test_id:${id}`,
      ),
    )
    print(json, test, [`${test.id}  ${test.status}  ${test.name}`])
  },
})

async function approve(app: App, id: string) {
  const test = await approveLabTest(app, id)
  if (!test) throw setupProblem('No lab test has this ID; list pending ones with: assay lab-tests pending')
  return test
}
