import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { createCombinedTest, findCombinedTest } from '../../catalog/combined-tests.ts'
import { getLab, resolveOrderSet } from '../../catalog/markers.ts'
import { checkMethod, checkOrderable, checkTestsActive, selectAccount } from '../../catalog/rules.ts'
import { combineTests, findStandaloneTest, methodFor, orderSetOf, type TestSelection } from '../checks/rules-tests.ts'

export type ResolvedTests = Awaited<ReturnType<typeof resolveTests>>

/** Resolves the tests, markers, lab, method and account of an order. Writes nothing. */
export async function resolveTests(app: App, caller: TeamCaller, selection: TestSelection, usableAccounts?: readonly string[]) {
  const set = orderSetOf(selection)
  const { tests, markers, lab_id, accounts } = await resolveOrderSet(app, caller, set)
  checkTestsActive(tests)
  checkOrderable(markers)
  const method = methodFor(tests, selection.collection_method)
  const lab = tests[0]?.lab ?? (await getLab(app, lab_id))
  checkMethod(lab, method)
  const account = selectAccount(accounts, lab_id, set.lab_account_id, usableAccounts)
  const standalone = findStandaloneTest(tests, markers, method)
  const combinedTest = combineTests({ lab, tests, markers, method })
  const lab_test = standalone ?? (await findCombinedTest(app, caller, combinedTest.auto_key))
  return { lab, tests, markers, method, account, lab_test, combinedTest }
}

/** Returns the lab test of the order; creates the combined test when it is first ordered. */
export const ensureLabTest = async (app: App, caller: TeamCaller, { lab_test, combinedTest, markers }: ResolvedTests) =>
  lab_test ?? (await createCombinedTest(app, caller, combinedTest, markers))
