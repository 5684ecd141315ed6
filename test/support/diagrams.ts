import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')

/** The sections of ARCHITECTURE.md by their headings, each without the sections below it. */
const sections = new Map(page.split(/^(?=##)/m).map((section) => [/^#+ (.*)$/m.exec(section)?.[1] ?? '', section]))

export type Arrow = readonly [from: string, to: string]

/** The arrows of the diagram in a section. */
export function arrowsIn(title: string): Arrow[] {
  const [, diagram = ''] = /^```mermaid$([\s\S]*?)^```$/m.exec(sections.get(title) ?? '') ?? []
  return diagram.split('\n').flatMap((line) => {
    const steps = line.split('-->').map((names) => names.split('&').map((name) => name.trim()))
    return steps.slice(1).flatMap((targets, i) => steps[i]?.flatMap((from) => targets.map((to) => [from, to] as const)) ?? [])
  })
}

/** What arrows lead to from a name, directly or through others. */
export function reachedBy(arrows: Arrow[], name: string) {
  const reached = new Set<string>()
  const visit = (from: string) => {
    for (const [, to] of arrows.filter((arrow) => arrow[0] === from && !reached.has(arrow[1]))) {
      reached.add(to)
      visit(to)
    }
  }
  visit(name)
  return reached
}

/** Whether other arrows lead to the end of this one too. */
export const isImplied = (arrows: Arrow[], arrow: Arrow) => {
  const [from, to] = arrow
  const others = arrows.filter((other) => other[0] !== from || other[1] !== to)
  return reachedBy(others, from).has(to)
}
