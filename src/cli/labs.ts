import { findLabBySlug } from '../labs/catalog/markers.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'

/** The lab that an operator names. */
export async function namedLab(app: App, slug: string) {
  const lab = await findLabBySlug(app, slug)
  if (!lab) throw setupProblem('There is no such lab; assay catalogue show lists those that are loaded')
  return lab
}
