import { problem } from '../../platform/problem.ts'

type Named = { slug: string; aliases: string[] }

/** The name that typed clients of the Junction API accept, if the lab has one. */
export const publicName = ({ slug, aliases }: Named) => aliases[0] ?? slug

export function requireNamedLab<L extends Named>(labs: L[], name: string): L {
  const lab = labs.find(({ slug, aliases }) => slug === name || aliases.includes(name))
  if (!lab) throw problem('UNKNOWN_LAB', 'No lab has this slug or alias. List the labs with GET /v3/lab_tests/labs.')
  return lab
}
