import type { Draft, Part } from './rules-summary.ts'

type Recorder = { source_type: string; app_id: string | null; device_id: string | null }

/** The encrypted part of a summary. */
export type SummaryDocument = Recorder & {
  fields: Record<string, unknown>
  raw: unknown
  parts?: Record<string, StoredPart>
  /** Fields that Assay computed. They apply where the source sent null. */
  derived?: Record<string, unknown>
}

type StoredPart = Part & { version: number; by: Recorder; timezone_offset: unknown }

type StoredSummary = { version: number; calendar_date: string; document: SummaryDocument }
export type Verdict = 'created' | 'updated' | 'unchanged' | 'stale'
export type MergedSummary = StoredSummary & { verdict: Verdict; changed: boolean }

type Arrival = {
  /** The version of drafts without one. */
  received: number
  /** Whether an equal version replaces the stored one, because sources round the time of a change. */
  lastWins?: boolean
  /** Whether the draft has every part that the source has. */
  replaces?: boolean
}

/** Merges a pushed summary into the stored one. The latest version wins; equal versions are ordered by content, or by arrival. */
export function mergeSummary(stored: StoredSummary | undefined, draft: Draft, device_id: string | null, arrival: Arrival): MergedSummary {
  const { fields, raw, calendar_date, source_type, app_id } = draft
  const by = { source_type, app_id, device_id }
  if (draft.parts) return mergeParts(stored, draft, draft.parts, by, arrival)
  const derived = stored?.document.derived
  const document: SummaryDocument = { fields, raw, ...by, ...(derived ? { derived } : {}) }
  const version = draft.version ?? Math.max(arrival.received, stored?.version ?? 0)
  if (!stored) return { version, calendar_date, document, verdict: 'created', changed: true }
  const [before, after] = [contentOf(stored.document), contentOf(document)]
  const winsTie = arrival.lastWins ? after !== before : after > before
  const wins = draft.version === null ? before !== after : version > stored.version || (version === stored.version && winsTie)
  if (!wins) return { ...stored, verdict: before === after ? 'unchanged' : 'stale', changed: false }
  return { version, calendar_date, document, verdict: isVisibleChange(stored.document, document) ? 'updated' : 'unchanged', changed: true }
}

/** Everything the source sent, without computed fields. */
const contentOf = (document: SummaryDocument) => JSON.stringify([visibleContent(document), document.raw])

/** The content that responses and events show. */
const visibleContent = ({ fields, source_type, app_id, device_id }: SummaryDocument) => [fields, source_type, app_id, device_id]

const isVisibleChange = (before: SummaryDocument, after: SummaryDocument) =>
  JSON.stringify(visibleContent(before)) !== JSON.stringify(visibleContent(after))

function mergeParts(
  stored: StoredSummary | undefined,
  { fields, calendar_date }: Draft,
  pushedParts: Record<string, Part>,
  by: Recorder,
  { received, lastWins = false, replaces = false }: Arrival,
): MergedSummary {
  const before = stored?.document.parts ?? {}
  const parts: Record<string, StoredPart> = replaces ? {} : { ...before }
  let changed = replaces && Object.entries(before).some(([name, { at }]) => pushedParts[name]?.at !== at)
  let isStale = false
  for (const [name, part] of Object.entries(pushedParts)) {
    const existing = before[name]?.at === part.at || !replaces ? before[name] : undefined
    const version = part.version ?? Math.max(received, existing?.version ?? 0)
    const next: StoredPart = { ...part, version, by, timezone_offset: fields['timezone_offset'] }
    if (!existing || supersedes(next, existing, part.version === null || (lastWins && part.version === existing.version))) {
      parts[name] = next
      changed = true
    } else {
      parts[name] = existing
      if (JSON.stringify(existing.value) !== JSON.stringify(next.value)) isStale = true
    }
  }
  if (stored && !changed) return { ...stored, verdict: isStale ? 'stale' : 'unchanged', changed: false }
  const document = assembleDocument(fields, parts)
  const version = Math.max(...Object.values(parts).map(({ version }) => version))
  if (!stored) return { version, calendar_date, document, verdict: 'created', changed: true }
  return { version, calendar_date, document, verdict: isVisibleChange(stored.document, document) ? 'updated' : 'unchanged', changed: true }
}

/** The part that was measured last determines the recorder, regardless of the order of arrival. */
function assembleDocument(fields: Draft['fields'], parts: Record<string, StoredPart>): SummaryDocument {
  const sorted = Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1))
  const [, last] = sorted.reduce((last, entry) => (isLater(entry[1], last[1]) ? entry : last))
  return {
    fields: { ...fields, ...Object.fromEntries(sorted.map(([name, { value }]) => [name, value])), timezone_offset: last.timezone_offset },
    raw: Object.assign({}, ...sorted.map(([, { raw }]) => raw)),
    ...last.by,
    parts: Object.fromEntries(sorted),
  }
}

const isLater = (a: StoredPart, b: StoredPart) => a.at > b.at || (a.at === b.at && a.version > b.version)

/** The last measurement of the day wins. Versions decide between two with the same time. */
function supersedes(next: StoredPart, existing: StoredPart, isLatestArrival: boolean) {
  if (next.at !== existing.at) return next.at > existing.at
  const [before, after] = [existing, next].map(({ value, raw, by, timezone_offset }) => JSON.stringify([value, raw, by, timezone_offset]))
  if (isLatestArrival) return before !== after
  return next.version > existing.version || (next.version === existing.version && (after as string) > (before as string))
}
