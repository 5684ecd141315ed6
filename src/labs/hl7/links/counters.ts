/** What this process did since it started, for its metrics: by lab, direction and outcome. */
export const labMessageCounts = new Map<string, number>()

export type LabOutcome = 'accepted' | 'stored' | 'rejected' | 'failed' | 'filed' | 'unmatched' | 'repeated' | 'held'

export function countLabMessage(lab: string, direction: 'out' | 'in', outcome: LabOutcome) {
  const key = [lab, direction, outcome].join(' ')
  labMessageCounts.set(key, (labMessageCounts.get(key) ?? 0) + 1)
}
