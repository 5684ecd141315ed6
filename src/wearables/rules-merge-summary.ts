import type { Draft, Part } from './rules-summary.ts'

/** What is sealed of a summary. */
export type SummaryDocument = {
  fields: Record<string, unknown>
  raw: unknown
  app_id: string | null
  device_id: string | null
  parts?: Record<string, Part & { version: number }>
  /** What we worked out ourselves; it counts where the source said nothing. */
  derived?: Record<string, unknown>
}

export type StoredSummary = { version: number; document: SummaryDocument }
export type Verdict = 'created' | 'updated' | 'unchanged' | 'stale'
export type MergedSummary = StoredSummary & { verdict: Verdict; changed: boolean }

/** Lays a summary over the one with the same id. As with samples, the latest version wins, and of equal ones always the same. */
export function mergeSummary(stored: StoredSummary | undefined, draft: Draft, device_id: string | null, received: number): MergedSummary {
  if (draft.parts) return mergeParts(stored, draft, draft.parts, device_id, received)
  const sent = { fields: draft.fields, raw: draft.raw, app_id: draft.app_id, device_id }
  const document: SummaryDocument = { ...sent, ...(stored?.document.derived ? { derived: stored.document.derived } : {}) }
  const version = draft.version ?? Math.max(received, stored?.version ?? 0)
  if (!stored) return { version, document, verdict: 'created', changed: true }
  const [before, after] = [JSON.stringify(stored.document), JSON.stringify(document)]
  const wins = draft.version === null ? before !== after : version > stored.version || (version === stored.version && after > before)
  if (!wins) return { ...stored, verdict: before === after ? 'unchanged' : 'stale', changed: false }
  const isNews = shownOf(stored.document) !== shownOf(document)
  return { version, document, verdict: isNews ? 'updated' : 'unchanged', changed: true }
}

/** What customers see of it, as opposed to how it came. */
const shownOf = ({ fields, app_id, device_id }: SummaryDocument) => JSON.stringify([fields, app_id, device_id])

function mergeParts(
  stored: StoredSummary | undefined,
  draft: Draft,
  sent: Record<string, Part>,
  device_id: string | null,
  received: number,
): MergedSummary {
  const parts = { ...stored?.document.parts }
  let [changed, isStale] = [false, false]
  for (const [name, part] of Object.entries(sent)) {
    const there = parts[name]
    const next = { ...part, version: part.version ?? Math.max(received, there?.version ?? 0) }
    if (!there || beats(next, there, part.version === null)) {
      parts[name] = next
      changed = true
    } else if (JSON.stringify(there.value) !== JSON.stringify(next.value)) isStale = true
  }
  const sorted = Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)))
  const values = Object.fromEntries(Object.entries(sorted).map(([name, { value }]) => [name, value]))
  const raw = Object.assign({}, ...Object.values(sorted).map(({ raw }) => raw))
  const { app_id = draft.app_id, device_id: device = device_id } = stored?.document ?? {}
  const document: SummaryDocument = {
    fields: { ...draft.fields, ...stored?.document.fields, ...values },
    raw,
    app_id,
    device_id: device,
    parts: sorted,
  }
  const version = Math.max(...Object.values(sorted).map(({ version }) => version))
  if (!stored) return { version, document, verdict: 'created', changed: true }
  if (!changed) return { ...stored, verdict: isStale ? 'stale' : 'unchanged', changed: false }
  return { version, document, verdict: shownOf(stored.document) === shownOf(document) ? 'unchanged' : 'updated', changed: true }
}

type Versioned = Part & { version: number }

function beats(next: Versioned, there: Versioned, isLast: boolean) {
  const [before, after] = [JSON.stringify([there.value, there.raw]), JSON.stringify([next.value, next.raw])]
  if (isLast) return before !== after
  return next.version > there.version || (next.version === there.version && after > before)
}
