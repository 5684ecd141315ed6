import type { AppInTransaction } from '../../platform/app.ts'
import { loadPhysicians, type Physician, writePhysicians } from './actions.ts'

export { loadPhysicians }

/** Writes the exported physicians, unless the team has some. */
export async function importPhysicians(app: AppInTransaction, team_id: string, physicians: Physician[]) {
  if (!(await loadPhysicians(app, team_id)).length) await writePhysicians(app, team_id, physicians)
}
