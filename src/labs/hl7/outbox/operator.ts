import { type App, inTransaction } from '../../../platform/app.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { findTeamOf, reopenMessage } from './resend.ts'
import * as store from './store.ts'

const MAX_LISTED = 1000

/** The messages to labs that wait for an answer or were rejected, without their content. */
export const listOpenMessages = (app: App, lab_id?: number) => store.listOpen(app.db, lab_id, MAX_LISTED)

/** Sends a message again, with the same control ID. */
export const resendMessage = (app: App, id: string) =>
  inTransaction(app, async (app) => {
    const team_id = await findTeamOf(app, id)
    const message = team_id && (await reopenMessage(app, team_id, id))
    if (!message) throw setupProblem('No rejected or pending message has this ID; list them with: assay labs messages')
    return message
  })
