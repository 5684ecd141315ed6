import type { App } from '../app.ts'
import { approveLabTest, pendingLabTests } from '../catalog/actions.ts'
import { Id } from '../contract/common.ts'
import { setupProblem } from '../problem.ts'
import { recordOperator } from './audited.ts'
import { type Command, options, print, required, shaped, withApp } from './command.ts'

const pendingUsage = 'assay lab-tests pending [--json]'

export const pendingTests: Command = {
  usage: pendingUsage,
  summary: 'Show the lab tests that wait for approval.',
  async run(args) {
    const { values } = options(args, {}, pendingUsage)
    const tests = await withApp(pendingLabTests)
    print(
      values.json,
      tests,
      tests.map(({ id, method, team, name }) => `${id}  ${method}  ${team ?? 'catalogue'}  ${name}`),
    )
  },
}

const approveUsage = 'assay lab-tests approve --id ID [--json]'

export const approveTest: Command = {
  usage: approveUsage,
  summary: 'Approve a lab test, so that it can be ordered.',
  async run(args) {
    const { values } = options(args, { id: { type: 'string' } }, approveUsage)
    const id = shaped(Id, required(values.id, '--id', approveUsage), '--id')
    const test = await withApp((app) =>
      recordOperator(
        app,
        'approve lab test',
        (app) => approve(app, id),
        () => `lab_test_id:${id}`,
      ),
    )
    print(values.json, test, [`${test.id}  ${test.status}  ${test.name}`])
  },
}

async function approve(app: App, id: string) {
  const test = await approveLabTest(app, id)
  if (!test) throw setupProblem('There is no such lab test; assay lab-tests pending lists those that wait')
  return test
}
