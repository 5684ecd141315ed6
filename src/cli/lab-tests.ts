import { Id } from '../contract/common.ts'
import { approveLabTest, pendingLabTests } from '../labs/catalog/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { listing } from './listing.ts'

export const pendingTests = command({
  name: 'lab-tests pending',
  summary: 'Show the lab tests that wait for approval.',
  options: {},
  async run({ json }) {
    const tests = await withApp(pendingLabTests)
    print(
      json,
      tests,
      listing(
        ['LAB TEST ID', 'METHOD', 'TEAM', 'NAME'],
        tests.map(({ id, method, team, name }) => [id, method, team ?? 'catalogue', name]),
      ),
    )
  },
})

export const approveTest = command({
  name: 'lab-tests approve',
  summary: 'Approve a lab test, so that it can be ordered.',
  options: { id: { value: 'ID', what: 'The id that assay lab-tests pending shows.', shape: Id, required: true } },
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
  if (!test) throw setupProblem('There is no such lab test; assay lab-tests pending lists those that wait')
  return test
}
