import { findLabBySlug } from '../labs/catalog/markers.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'

export async function requireLab(app: App, slug: string) {
  const lab = await findLabBySlug(app, slug)
  if (!lab) throw setupProblem('No lab has this slug; list labs with: assay catalog show')
  return lab
}
