import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type CombinedTest = {
  lab_id: number
  name: string
  method: string
  fasting: boolean
  sample_type: string
  price: number
  common_tat_days: number | null
  worst_case_tat_days: number | null
  auto_key: string
}

export const findCombinedTest = (app: App, { team_id }: TeamCaller, auto_key: string) => store.findCombinedTest(app.db, team_id, auto_key)

/** Creates the team's test for a combination of tests and markers. Its parts are already orderable, so it needs no approval. */
export const createCombinedTest = (app: App, caller: TeamCaller, combinedTest: CombinedTest, markers: { id: number }[]) =>
  inTransaction(app, async (app) => {
    const now = app.now()
    const state = { created_at: now, updated_at: now, approved_at: now, has_collection_instructions: true }
    const row = {
      ...combinedTest,
      ...state,
      id: randomUUID(),
      team_id: caller.team_id,
      slug: rules.slugOf(combinedTest.name),
      description: '',
      marker_ids: markers.map(({ id }) => id),
    }
    await store.insertCombinedTest(app.db, row)
    const created = await findCombinedTest(app, caller, combinedTest.auto_key)
    if (!created) throw new Error('the combined lab test was not found after its insert')
    return created
  })
